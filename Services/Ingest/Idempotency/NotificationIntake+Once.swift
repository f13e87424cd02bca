import SecurePushCore
import ServiceRuntime

/// How a request with an `Idempotency-Key` ended.
enum IdempotentOutcome: Sendable {
    /// It was the first.
    case accepted(IdempotentRequest.Answer)
    /// It repeats an earlier one, and has its answer.
    case repeated(IdempotentRequest.Answer)

    var answer: IdempotentRequest.Answer {
        switch self {
        case .accepted(let answer), .repeated(let answer): answer
        }
    }
}

extension NotificationIntake {
    /// How long a key and its answer are kept.
    static let keyLifetime = Duration.seconds(86_400)

    /// Accepts a request at most once for its key.
    ///
    /// A repeat is answered 409 only while this process works on the first. Of two processes the second waits in the
    /// store for the transaction of the first and then repeats its answer, which costs no reservation row that a crash
    /// would leave behind; either answer tells the sender the truth.
    ///
    /// The key is looked up only when the request is refused: it may be the repeat of one that was fine when it came
    /// and whose dates have passed since. For all others the store finds an earlier one as it appends, so that a first
    /// request, which nearly all are, costs one statement.
    ///
    /// - Parameters:
    ///   - body: as it came; another body is another request.
    ///   - wanted: the request, or why it is refused, which leaves the key free.
    /// - Throws: why the request is refused; ``StorageError``; a `Problem`: 409 while the key is under way, 422 for
    ///   another body.
    func acceptOnce(
        _ key: IdempotentRequest.Key, body: [UInt8], now: Timestamp,
        wanted: Result<CreateNotificationRequest, any Error>, from origin: RequestOrigin
    ) async throws -> IdempotentOutcome {
        guard inFlight.enter(key) else {
            throw Problem.conflict(
                "A request with this Idempotency-Key is under way; try again in a second.", retryAfter: .seconds(1))
        }
        defer { inFlight.leave(key) }
        switch wanted {
        case .success(let request):
            return try await turns.withTurn(of: request.storedBytes) {
                try await append(try seal(request, from: origin, now: now), once: key, body: body, now: now)
            }
        case .failure(let refusal):
            guard let earlier = try await store.request(key, now: now) else { throw refusal }
            return try repetition(of: earlier, body: body)
        }
    }

    private func append(
        _ sealed: SealedRequest, once key: IdempotentRequest.Key, body: [UInt8], now: Timestamp
    ) async throws -> IdempotentOutcome {
        let request = IdempotentRequest(
            key: key, fingerprint: sealer.fingerprint(of: body, context: key.fingerprintContext),
            answer: sealed.answer, expiresAt: now + Self.keyLifetime)
        if let earlier = try await store.append(sealed.notifications, once: request, now: now) {
            return try repetition(of: earlier, body: body)
        }
        didAppend([sealed])
        return .accepted(sealed.answer)
    }

    private func repetition(of earlier: IdempotentRequest, body: [UInt8]) throws(Problem) -> IdempotentOutcome {
        switch sealer.isFingerprint(earlier.fingerprint, of: body, context: earlier.key.fingerprintContext) {
        case true?:
            metrics.replayed(earlier.key)
            return .repeated(earlier.answer)
        case false?:
            throw .idempotencyKeyReused("The Idempotency-Key was used with another body; give this one a new key.")
        case nil:
            // Answering the earlier one's answer could hide that this one was never sent, so it is refused.
            throw .idempotencyKeyReused(
                "The Idempotency-Key was used before the payload keys changed, and whether with this body cannot be "
                    + "told any more; look whether it was sent before giving it a new key.")
        }
    }
}

extension Problem {
    fileprivate static func idempotencyKeyReused(_ detail: String) -> Problem {
        var problem = Problem.unprocessable(detail)
        problem.type = "urn:securepush:problem:idempotency-key-reused"
        problem.title = "Idempotency-Key Reused"
        return problem
    }
}

extension IdempotentRequest.Key {
    /// Every part with its end, so that no two keys have the same: a sender is no longer than a name, and holds no NUL.
    fileprivate var fingerprintContext: [UInt8] { Array("\(line)\0\(value)\0\(sender)".utf8) }
}
