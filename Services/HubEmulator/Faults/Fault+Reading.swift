import Foundation
import NIOCore
import ServiceConfiguration
import ServiceRuntime

extension Fault {
    private static let maxMilliseconds = 86_400_000

    /// Reads a fault of the emulator's own API or of a scenario file.
    ///
    /// - Throws: 400 when it is no JSON object, 422 that names every member that is wrong.
    init(_ body: ByteBuffer) throws(Problem) {
        var members = try JSONMembers(body)
        platform = members.choice("Platform", NotificationFormat.self)
        if let name = members.string("Operation") {
            operation = Operation(member: name) ?? members.refuse("Operation", "is not known")
        }
        tag = members.string("Tag")?.lowercased()
        if let tag, !TagSyntax.isTag(tag) { members.note("Tag", "is not one valid tag") }
        rate = members.number("Rate", in: 0...1) ?? 1
        count = members.integer("Count", in: 1...1_000_000_000)
        startMilliseconds = Self.duration("At", &members) ?? 0
        durationMilliseconds = Self.duration("For", &members)
        seed = members.integer("Seed", in: 0...9_007_199_254_740_992).map { UInt64($0) }
        latencyMilliseconds = members.integer("LatencyMs", in: 0...600_000) ?? 0
        retryAfter = members.integer("RetryAfter", in: 0...86_400)
        readEffect(&members)
        if !doesSomething {
            members.note("Status", "or LatencyMs, Reset, TimeoutMs, Swallow, Outcome or Tier is needed")
        }
        try members.finish()
    }

    private var doesSomething: Bool { latencyMilliseconds > 0 || decidesAnswer || decidesFate }

    private mutating func readEffect(_ members: inout JSONMembers) {
        let status = members.integer("Status", in: 400...599)
        let reset = members.boolean("Reset") ?? false
        let timeout = members.integer("TimeoutMs", in: 1...Self.maxMilliseconds)
        isAccepted = members.boolean("Accept") ?? false
        isSwallowed = members.boolean("Swallow") ?? false
        if let name = members.string("Outcome") {
            let known = DeliveryOutcome.allCases.first { $0.rawValue.lowercased() == name.lowercased() }
            outcome = known == .success ? members.refuse("Outcome", "must be a failure") : known
            if known == nil { members.note("Outcome", "is not known") }
        }
        tier = members.choice("Tier", ThrottleTier.self)
        if [status != nil, reset, timeout != nil].filter(\.self).count > 1 {
            members.note("Status", "cannot stand beside Reset or TimeoutMs: each is an answer")
        }
        if tier != nil, reset || timeout != nil || isAccepted {
            members.note("Tier", "takes only Status and RetryAfter beside it")
        }
        if isSwallowed, outcome != nil { members.note("Swallow", "cannot stand beside Outcome") }
        if let status { answer = .status(status) }
        if reset { answer = .reset }
        if let timeout { answer = .silence(milliseconds: timeout) }
        if tier != nil, status == nil { answer = .status(429) }
        if isAccepted, !decidesAnswer, latencyMilliseconds == 0 {
            members.note("Accept", "needs Status, Reset or TimeoutMs: what the client is told instead")
        }
    }

    /// A text such as `500ms` or `2m`.
    private static func duration(_ name: String, _ members: inout JSONMembers) -> Int? {
        guard let text = members.string(name) else { return nil }
        guard let duration = Duration(configurationText: text), duration <= .milliseconds(maxMilliseconds) else {
            return members.refuse(name, "must be a duration up to 24h, as 500ms or 30s")
        }
        let (seconds, attoseconds) = duration.components
        return Int(seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

extension JSONMembers {
    /// ``refuse(_:_:)`` where no value is wanted.
    fileprivate mutating func note(_ name: String, _ detail: String) {
        let _: String? = refuse(name, detail)
    }
}
