import HTTPTypes
import Hummingbird
import SecurePushCore

extension Problem {
    /// The one mapping of errors to answers. ``ProblemMiddleware`` uses it, and so do answers that hold problems, as
    /// the lines of a batch. It logs nothing; see ``logText(of:)``.
    ///
    /// - Parameter requestID: the ID of the request (`context.id`), for ``instance``.
    public init(_ error: any Error, requestID: String) {
        switch error {
        case let problem as Problem: self = problem
        case let error as HTTPError: self = Problem(error.status, error.body, headers: error.headers)
        case let error as any HTTPResponseError: self = Problem(error.status)
        case let error as AuthenticationError: self = error.problem
        case let error as StorageError: self = error.problem
        case is CancellationError: self = .serviceUnavailable("The service is shutting down.")
        // A missing payload key is the operator's mistake: it is in the log, and the client hears nothing of it.
        default: self = .internalServerError()
        }
        instance = RequestIdentifier.instance(requestID)
    }

    /// An error as it may stand in a log. The texts of these two are for operators and hold nothing of a payload. Any
    /// other error is named by its type only, since its description could hold something of the request.
    public static func logText(of error: any Error) -> String {
        switch error {
        case let error as StorageError: error.description
        case let error as PayloadError: error.description
        default: String(reflecting: Swift.type(of: error))
        }
    }
}
