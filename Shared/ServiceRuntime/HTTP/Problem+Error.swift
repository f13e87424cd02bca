import SecurePushCore

extension Problem {
    /// An error as ``ProblemMiddleware`` answers it, for answers that hold problems inside, as the lines of a batch do.
    ///
    /// - Parameter requestID: the ID of the request (`context.id`), for ``instance``.
    public init(_ error: any Error, requestID: String) {
        switch error {
        case let problem as Problem: self = problem
        case let error as AuthenticationError: self = error.problem
        case let error as StorageError: self = error.problem
        case is CancellationError: self = .serviceUnavailable("The service is shutting down.")
        default: self = .internalServerError()
        }
        instance = RequestIdentifier.instance(requestID)
    }
}
