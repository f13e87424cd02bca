import SecurePushCore

extension AuthenticationError {
    /// 401 with challenges, 503 where credentials cannot be checked now, or 429 where too many attempts have failed.
    var problem: Problem {
        switch code {
        case .unavailable: .serviceUnavailable(message)
        case .throttled: .tooManyRequests(message, retryAfter: retryAfter ?? .seconds(1))
        default: .unauthorized(message, challenges: challenges)
        }
    }
}

extension StorageError {
    /// 503 where the same request may succeed later, else 500. What happened is in the log, not in the answer.
    var problem: Problem {
        isRetriable ? .serviceUnavailable("The store is away for the moment.") : .internalServerError()
    }
}
