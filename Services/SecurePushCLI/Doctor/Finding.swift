/// The result of `securepush doctor` for one part.
struct Finding: Encodable, Sendable, Equatable {
    enum State: String, Encodable, Sendable {
        case ok
        /// It works, but an operator should look at it.
        case warning
        /// It does not answer, or something is wrong.
        case failed
        /// No setting names it.
        case unexamined = "not examined"
    }

    /// The setting, or the queue.
    var part: String
    var state: State
    /// A sentence without a full stop.
    var detail: String
    var advice: String?
    /// `true` if it failed because it does not answer, otherwise `nil`.
    private(set) var unreachable: Bool?

    var isUnreachable: Bool { unreachable == true }

    static func ok(_ part: String, _ detail: String) -> Finding { Finding(part: part, state: .ok, detail: detail) }

    static func warning(_ part: String, _ detail: String, _ advice: String) -> Finding {
        Finding(part: part, state: .warning, detail: detail, advice: advice)
    }

    static func failed(_ part: String, _ detail: String, _ advice: String) -> Finding {
        Finding(part: part, state: .failed, detail: once(part, detail), advice: advice)
    }

    static func unreachable(_ part: String, _ detail: String, _ advice: String) -> Finding {
        Finding(part: part, state: .failed, detail: once(part, detail), advice: advice, unreachable: true)
    }

    /// Errors of commands begin with the setting, which stands before each finding already.
    private static func once(_ part: String, _ detail: String) -> String {
        detail.hasPrefix(part + ": ") ? String(detail.dropFirst(part.count + 2)) : detail
    }

    /// What an error says of a part, with the advice for one that does not answer, and for any other fault.
    static func fault(
        _ part: String, _ error: any Error, unreachable advice: String, otherwise: String
    ) -> Finding {
        let failure = CommandFailure(describing: error)
        return failure.code == .unreachable
            ? .unreachable(part, failure.message, advice) : .failed(part, failure.message, otherwise)
    }

    static func unexamined(_ part: String, _ detail: String, _ advice: String) -> Finding {
        Finding(part: part, state: .unexamined, detail: detail, advice: advice)
    }

    /// The exit code for all findings. Unreachable parts come first because they can hide other faults. Warnings and
    /// parts that were not examined do not count.
    static func exitCode(_ findings: [Finding]) -> CommandFailure.Code? {
        if !findings.contains(where: { $0.state != .unexamined }) { return .configuration }
        if findings.contains(where: \.isUnreachable) { return .unreachable }
        return findings.contains { $0.state == .failed } ? .failed : nil
    }

    /// `7 ok, 1 warning, 2 failed, 3 not examined`
    static func summary(_ findings: [Finding]) -> String {
        func count(_ state: State) -> Int { findings.count { $0.state == state } }
        let warnings = count(.warning)
        return "\(count(.ok)) ok, \(warnings) warning\(warnings == 1 ? "" : "s"), \(count(.failed)) failed, "
            + "\(count(.unexamined)) not examined"
    }
}
