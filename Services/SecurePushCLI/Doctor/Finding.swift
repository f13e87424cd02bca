/// What the doctor found of one part.
struct Finding: Encodable, Sendable, Equatable {
    enum State: String, Encodable, Sendable {
        case ok
        /// There is no answer.
        case unreachable
        /// It is there and not as it should be.
        case faulty
    }

    var part: String
    var state: State
    var detail: String
    /// What to do about it.
    var advice: String?

    static func ok(_ part: String, _ detail: String) -> Finding { Finding(part: part, state: .ok, detail: detail) }

    static func faulty(_ part: String, _ detail: String, _ advice: String) -> Finding {
        Finding(part: part, state: .faulty, detail: detail, advice: advice)
    }

    static func unreachable(_ part: String, _ detail: String, _ advice: String) -> Finding {
        Finding(part: part, state: .unreachable, detail: detail, advice: advice)
    }

    private enum CodingKeys: String, CodingKey {
        case part = "Part"
        case state = "State"
        case detail = "Detail"
        case advice = "Advice"
    }

    /// The exit code of all findings: unreachable parts first, for they hide what else is wrong.
    static func exitCode(_ findings: [Finding]) -> CommandFailure.Code? {
        if findings.isEmpty { return .configuration }
        if findings.contains(where: { $0.state == .unreachable }) { return .unreachable }
        return findings.contains { $0.state == .faulty } ? .failed : nil
    }
}
