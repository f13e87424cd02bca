import Foundation
import NIOCore
import SecurePushCore
import ServiceConfiguration
import ServiceRuntime

extension Fault {
    private static let maxMilliseconds = 86_400_000
    private static let members = [
        "Platform", "Operation", "Tag", "Rate", "Count", "At", "For", "Seed", "LatencyMs", "RetryAfter", "Status",
        "Reset", "TimeoutMs", "Accept", "Swallow", "Outcome", "Tier",
    ]

    /// Reads a fault of the emulator's own API or of a scenario.
    ///
    /// - Throws: ``Problem``: 400 for what is not JSON, 422 that names every invalid member.
    init(_ body: ByteBuffer) throws { self = try body.readJSON { Fault(&$0) } }

    private init(_ reader: inout JSONObjectReader) {
        var answers: [Answer] = []
        let members = reader.members(of: reader.root, known: Self.members)
        for member in members where member.value.kind != .null {
            readSelection(member, &reader)
            readEffect(member, &reader)
            if let answer = Self.answer(member, &reader) { answers.append(answer) }
        }
        if answers.count > 1 {
            reader.note("/Status", "Status, Reset and TimeoutMs exclude each other: each decides the response.")
        }
        if tier != nil, isAccepted || answers.contains(where: { !$0.isStatus }) {
            reader.note("/Tier", "Tier can be combined with Status and RetryAfter only.")
        }
        answer = answers.last ?? (tier == nil ? .usual : .status(429))
        check(&reader)
    }

    /// Reads which requests the fault hits.
    private mutating func readSelection(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) {
        let (value, pointer) = (member.value, member.pointer)
        switch member.name {
        case "Platform": platform = reader.choice(value, at: pointer, ignoringCase: true)
        case "Operation":
            guard let name = reader.string(value, at: pointer) else { return }
            operation = Operation(member: name)
            if operation == nil { reader.note(pointer, "The operation is unknown.") }
        case "Tag":
            tag = reader.string(value, at: pointer)?.lowercased()
            if let tag, !TagSyntax.isTag(tag) { reader.note(pointer, "The value must be one valid tag.") }
        case "Rate": rate = reader.number(value, at: pointer, in: 0...1) ?? 1
        case "Count": count = reader.integer(value, at: pointer, in: 1...1_000_000_000)
        case "At": startMilliseconds = Self.duration(member, &reader) ?? 0
        case "For": durationMilliseconds = Self.duration(member, &reader)
        case "Seed": seed = reader.integer(value, at: pointer, in: 0...9_007_199_254_740_992).map { UInt64($0) }
        default: break
        }
    }

    /// Reads all effects but the response.
    private mutating func readEffect(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) {
        let (value, pointer) = (member.value, member.pointer)
        switch member.name {
        case "LatencyMs": latencyMilliseconds = reader.integer(value, at: pointer, in: 0...600_000) ?? 0
        case "RetryAfter": retryAfter = reader.integer(value, at: pointer, in: 0...86_400)
        case "Accept": isAccepted = reader.boolean(value, at: pointer) ?? false
        case "Swallow": isSwallowed = reader.boolean(value, at: pointer) ?? false
        case "Outcome":
            outcome = reader.choice(value, at: pointer, ignoringCase: true)
            if outcome == .success { reader.note(pointer, "The outcome must be a failure.") }
        case "Tier": tier = reader.choice(value, at: pointer, ignoringCase: true)
        default: break
        }
    }

    private static func answer(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) -> Answer? {
        let (value, pointer) = (member.value, member.pointer)
        return switch member.name {
        case "Status": reader.integer(value, at: pointer, in: 400...599).map(Answer.status)
        case "Reset": reader.boolean(value, at: pointer) == true ? .reset : nil
        case "TimeoutMs": reader.integer(value, at: pointer, in: 1...maxMilliseconds).map(Answer.silence(milliseconds:))
        default: nil
        }
    }

    private func check(_ reader: inout JSONObjectReader) {
        if latencyMilliseconds == 0, !decidesAnswer, !decidesFate {
            reader.note("/Status", "Status, LatencyMs, Reset, TimeoutMs, Swallow, Outcome or Tier is required.")
        }
        if isSwallowed, outcome != nil { reader.note("/Swallow", "Swallow and Outcome exclude each other.") }
        if isAccepted, !decidesAnswer, latencyMilliseconds == 0 {
            reader.note("/Accept", "Accept needs Status, Reset or TimeoutMs, the response to the client.")
        }
    }

    /// The milliseconds of a text such as `500ms` or `2m`.
    private static func duration(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) -> Int? {
        guard let text = reader.string(member.value, at: member.pointer) else { return nil }
        guard let duration = Duration(configurationText: text), duration <= .milliseconds(maxMilliseconds) else {
            reader.note(member.pointer, "The value must be a duration up to 24h, for example 500ms or 30s.")
            return nil
        }
        return Int(duration.milliseconds)
    }
}

extension Fault.Answer {
    fileprivate var isStatus: Bool { if case .status = self { true } else { false } }
}

/// A scenario file: a JSON list of faults; `At` and `For` count from the emulator's start.
///
/// Together with a seed it makes a run repeatable: the same file gives the same faults at the same times.
struct FaultScenario: Sendable {
    let faults: [Fault]

    /// Why a file cannot be used.
    struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private static let maxBytes = 1024 * 1024
    private static let maxFaults = 100

    /// - Throws: ``Refusal``, which names the entry and all its mistakes.
    init(contentsOf path: String) throws {
        let content: FileContent
        do {
            content = try FileContent(path: path, maxBytes: Self.maxBytes)
        } catch {
            throw Refusal(description: error.message)
        }
        try self.init(content.text)
    }

    init(_ text: String) throws {
        guard let entries = JSONValue(text: text)?.elements else {
            throw Refusal(description: "it is not a JSON list of faults")
        }
        guard entries.count <= Self.maxFaults else {
            throw Refusal(description: "it has more than \(Self.maxFaults) faults")
        }
        faults = try entries.enumerated().map { index, entry in
            guard entry.members != nil else { throw Refusal(description: "fault \(index + 1) is not a JSON object") }
            do {
                return try Fault(ByteBuffer(string: entry.json))
            } catch let error as Problem {
                let issues = error.errors.map { "\($0.pointer): \($0.detail)" }
                throw Refusal(description: "fault \(index + 1): \(issues.joined(separator: " "))")
            }
        }
    }
}
