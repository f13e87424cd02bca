import SecurePushCore

extension AuthenticationError {
    /// 401 with challenges, or 503 where credentials cannot be checked now.
    var problem: Problem {
        code == .unavailable ? .serviceUnavailable(message) : .unauthorized(message, challenges: challenges)
    }
}

extension StorageError {
    /// 503 where the same request may succeed later, else 500. What happened is in the log, not in the answer.
    var problem: Problem {
        isRetriable ? .serviceUnavailable("The store is away for the moment.") : .internalServerError()
    }
}
