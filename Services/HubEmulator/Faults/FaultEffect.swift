/// What the faults do to one request.
struct FaultEffect: Equatable, Sendable {
    var latencyMilliseconds = 0
    /// The fault that decides the answer.
    var fault: Fault?
    /// What becomes of the notification instead of being delivered.
    var fate: Fate?
    /// All faults that had a part in it.
    var faultIDs: [Int] = []

    enum Fate: Equatable, Sendable {
        case swallowed
        case outcome(DeliveryOutcome)
    }

    static let none = FaultEffect()

    /// Whether the request is refused, cut or left without an answer before the hub takes it.
    var refuses: Bool { fault.map { !$0.isAccepted } ?? false }

    mutating func add(_ fault: Fault) {
        faultIDs.append(fault.id)
        latencyMilliseconds += fault.latencyMilliseconds
        if fault.decidesAnswer { self.fault = fault }
        if let outcome = fault.outcome { fate = .outcome(outcome) } else if fault.isSwallowed { fate = .swallowed }
    }

    /// In a few words, for the record; nil when nothing happens.
    var words: String? {
        var words: [String] = []
        if latencyMilliseconds > 0 { words.append("delay \(latencyMilliseconds) ms") }
        switch fate {
        case .swallowed: words.append("swallowed")
        case .outcome(let outcome): words.append(outcome.rawValue)
        case nil: break
        }
        if let fault { words.append(fault.words) }
        return words.isEmpty ? nil : words.joined(separator: ", ")
    }
}

extension Fault {
    /// What happens to the answer, in a few words.
    var words: String {
        let what =
            switch answer {
            case .usual: "answer as usual"
            case .status(let status): "\(status)" + (retryAfter.map { ", Retry-After \($0)" } ?? "")
            case .reset: "connection cut"
            case .silence: "no answer"
            }
        return what + (isAccepted ? " after accepting" : "")
    }
}
