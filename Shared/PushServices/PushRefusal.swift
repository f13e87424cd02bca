import Foundations

/// A push that a connector does not send, for the reason in the result.
struct PushRefusal: Error {
    let result: PushResult

    init(_ answer: PushAnswer, _ reason: String) { result = PushResult(answer, reason: reason) }
}

extension PushRequest {
    /// The seconds that are left of the push, at least 1; `nil` if it does not expire.
    func secondsLeft(now: Timestamp) throws(PushRefusal) -> Int64? {
        guard let expiresAt else { return nil }
        let left = (expiresAt - now).milliseconds
        guard left > 0 else { throw PushRefusal(.invalid, "expired") }
        return max(1, left / 1_000)
    }

    /// The seconds that the push service may keep the push: those of a header, but not beyond the end of the push;
    /// `nil` if there is neither. In the last second it is 1: some push services refuse 0.
    func timeToLive(header: String, now: Timestamp) throws(PushRefusal) -> Int64? {
        let left = try secondsLeft(now: now)
        guard let text = headers[header] else { return left }
        guard (1...10).contains(text.utf8.count), ByteSet.digits.containsAll(text), let wanted = Int64(text) else {
            throw PushRefusal(.invalid, "BadTtl")
        }
        return left.map { min($0, wanted) } ?? wanted
    }
}

extension PushResult {
    /// A push without a response.
    init(_ failure: PushHTTPFailure) {
        switch failure {
        case .notSent(let reason): self.init(.unreachable, reason: reason)
        case .unanswered(let reason): self.init(.unanswered, reason: reason)
        }
    }
}
