import Domain
import Foundation
import Foundations
import NIOCore
import ServiceConfiguration
import ServiceRuntime

extension Fault {
    private static let maxMilliseconds = 86_400_000

    /// Reads a fault of the emulator's own API or of a scenario.
    ///
    /// - Throws: ``Problem``: 400 for a body that is not JSON, 422 that names every invalid member.
    init(_ body: ByteBuffer) throws { self = try body.readJSON(.object { Fault(&$0) }) }

    private init(_ json: inout JSONObjectReader) {
        platform = json.optional("Platform", .choiceIgnoringCase)
        operation = json.optional("Operation", .string("The operation is unknown.") { Operation(member: $0) })
        tag = json.optional("Tag", .tag)
        rate = json.optional("Rate", .number(0...1)) ?? 1
        count = json.optional("Count", .integer(1...1_000_000_000))
        startMilliseconds = json.optional("At", .duration(upTo: Self.maxMilliseconds)) ?? 0
        durationMilliseconds = json.optional("For", .duration(upTo: Self.maxMilliseconds))
        seed = json.optional("Seed", .integer(0...9_007_199_254_740_992)).map { UInt64($0) }
        latencyMilliseconds = json.optional("LatencyMs", .integer(0...600_000)) ?? 0
        retryAfter = json.optional("RetryAfter", .integer(0...86_400))
        isAccepted = json.optional("Accept", .boolean) ?? false
        isSwallowed = json.optional("Swallow", .boolean) ?? false
        outcome = json.optional("Outcome", .choiceIgnoringCase)
        if outcome == .success || outcome == .unknown { json.note("The outcome must be a failure.", at: "Outcome") }
        tier = json.optional("Tier", .choiceIgnoringCase)
        let answers: [Answer] = [
            json.optional("Status", .integer(400...599)).map { .status($0) },
            json.optional("Reset", .boolean) == true ? .reset : nil,
            json.optional("TimeoutMs", .integer(1...Self.maxMilliseconds)).map { .silence(milliseconds: $0) },
        ].compactMap(\.self)
        answer = answers.last ?? (tier == nil ? .usual : .status(429))
        check(answers, &json)
    }

    private func check(_ answers: [Answer], _ json: inout JSONObjectReader) {
        if answers.count > 1 {
            json.note("Status, Reset and TimeoutMs exclude each other: each decides the response.", at: "Status")
        }
        if tier != nil, isAccepted || answers.contains(where: { !$0.isStatus }) {
            json.note("Tier can be combined with Status and RetryAfter only.", at: "Tier")
        }
        if latencyMilliseconds == 0, !decidesAnswer, !decidesFate {
            json.note("Status, LatencyMs, Reset, TimeoutMs, Swallow, Outcome or Tier is required.", at: "Status")
        }
        if isSwallowed, outcome != nil { json.note("Swallow and Outcome exclude each other.", at: "Swallow") }
        if isAccepted, !decidesAnswer, latencyMilliseconds == 0 {
            json.note("Accept needs Status, Reset or TimeoutMs, the response to the client.", at: "Accept")
        }
    }
}

extension JSONRule<String> {
    fileprivate static var tag: JSONRule {
        .string("The value must be one valid tag.") { TagSyntax.isTag($0.lowercased()) ? $0.lowercased() : nil }
    }
}

extension JSONRule<Int> {
    /// The milliseconds of a text such as `500ms` or `2m`.
    fileprivate static func duration(upTo maxMilliseconds: Int) -> JSONRule {
        .string("The value must be a duration up to 24h, for example 500ms or 30s.") { text in
            guard let duration = Duration(configurationText: text), duration <= .milliseconds(maxMilliseconds) else {
                return nil
            }
            return Int(duration.milliseconds)
        }
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
