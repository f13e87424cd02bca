import Postgres
import SecurePushCore

extension StorageError {
    /// The store's word for what PostgreSQL or libpq said; cancellation and the store's own errors stay as they are.
    static func mapping(_ error: any Error) -> any Error {
        guard let error = error as? PostgresError else { return error }
        return StorageError(error)
    }

    /// Why one row of an answer cannot be read.
    static func unreadableRow(_ error: any Error) -> StorageError {
        switch error {
        case let error as StorageError: error
        case let error as PostgresError: StorageError(.failed, error.message)
        default: unreadable("of a notification")
        }
    }

    init(_ error: PostgresError) {
        let code: Code =
            switch error.code {
            case .unavailable: .unavailable
            case .connectionLost: .connectionLost
            case .timeout: .timeout
            case .invalid: .invalid
            // A standby that was promoted away from, too many connections, a full disk: others may take it later.
            case _ where error.sqlState.map(StorageError.isPassing) == true: .unavailable
            default: .failed
            }
        self.init(code, error.sqlState.map { "\(error.message) (SQLSTATE \($0))" } ?? error.message)
    }

    /// Whether a refusal says more of the server's state than of the statement: read-only (25006), rolled back in
    /// favour of another (class 40), out of resources (53), lock not available (55P03), operator's intervention (57),
    /// I/O (58).
    private static func isPassing(_ sqlState: String) -> Bool {
        sqlState == "25006" || sqlState == "55P03" || ["40", "53", "57", "58"].contains(sqlState.prefix(2))
    }
}
