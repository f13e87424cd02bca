import Postgres
import SecurePushCore

/// Reads an answer; a column that is not what it should be is the store's failure.
func decoding<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch { throw StorageError.mapping(error) }
}

/// The error of a column that holds what this program never wrote.
func unreadable(_ column: String) -> StorageError {
    StorageError(.failed, "The column \(column) holds a value that cannot be read.")
}

extension PostgresRow {
    func timestamp(_ column: Int) throws(PostgresError) -> Timestamp { Timestamp(milliseconds: try decode(column)) }

    func timestampIfPresent(_ column: Int) throws(PostgresError) -> Timestamp? {
        try decodeIfPresent(column, as: Int64.self).map { Timestamp(milliseconds: $0) }
    }

    func userName(_ column: Int) throws -> UserName {
        guard let name = UserName(try decode(column, as: String.self)) else { throw unreadable("of a user's name") }
        return name
    }
}

// The small numbers and lists as which some values are kept. They are in the database: never change one.

extension Presentation {
    var code: Int16 {
        switch self {
        case .silent: 0
        case .alert: 1
        }
    }

    init?(code: Int16) {
        switch code {
        case 0: self = .silent
        case 1: self = .alert
        default: return nil
        }
    }
}

extension Priority {
    var code: Int16 {
        switch self {
        case .normal: 0
        case .high: 1
        }
    }

    init?(code: Int16) {
        switch code {
        case 0: self = .normal
        case 1: self = .high
        default: return nil
        }
    }
}

extension PostgresUUID {
    init(_ id: NotificationID) { self.init(high: id.high, low: id.low) }
}

extension NotificationID {
    init(_ uuid: PostgresUUID) { self.init(high: uuid.high, low: uuid.low) }
}

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
