import Domain
import Foundations
import Postgres

/// Decodes a result; maps the error of an unexpected value to ``StorageError``.
func decoding<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch { throw StorageError.mapping(error) }
}

extension Result<PostgresResult, PostgresError> {
    /// Decodes the result that a callback gets.
    func decoded<Value>(_ body: (PostgresResult) throws -> Value) -> Result<Value, any Error> {
        Result<Value, any Error> { try decoding { try body(get()) } }
    }
}

/// The error for a column with a value that this program never writes.
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

// The numbers that some values are stored as. Stored rows contain them: never change one.

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

extension Display {
    /// NULL is ``full``, as in most rows.
    var code: Int16? {
        switch self {
        case .full: nil
        case .redacted: 1
        case .app: 2
        }
    }

    init?(code: Int16?) {
        switch code {
        case nil: self = .full
        case 1: self = .redacted
        case 2: self = .app
        default: return nil
        }
    }

    /// - Throws: ``StorageError`` with code `failed` for a number that this program did not write.
    init(stored code: Int16?) throws(StorageError) {
        guard let display = Display(code: code) else {
            throw StorageError(.failed, "The column display holds a number that cannot be read.")
        }
        self = display
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
    /// Maps ``PostgresError``; returns cancellation and the store's own errors unchanged.
    static func mapping(_ error: any Error) -> any Error {
        guard let error = error as? PostgresError else { return error }
        return StorageError(error)
    }

    /// Why one row of a result cannot be read.
    static func unreadableRow(_ error: any Error) -> StorageError {
        switch error {
        case let error as StorageError: error
        case let error as PostgresError: StorageError(.failed, error.message)
        default: unreadable("of a notification")
        }
    }

    init(_ error: PostgresError) {
        if error.isReadOnly, error.code != .connectionLost {
            self = .readOnly
            return
        }
        let code: Code =
            switch error.code {
            case .unavailable: .unavailable
            case .connectionLost: .connectionLost
            case .timeout: .timeout
            case .invalid: .invalid
            // The server became a standby, has too many connections or a full disk: a later try may succeed.
            case _ where error.sqlState.map(StorageError.isTransient) == true: .unavailable
            default: .failed
            }
        let message = error.sqlState == "53100" ? PostgresError.diskIsFull : error.message
        self.init(code, error.sqlState.map { "\(message) (SQLSTATE \($0))" } ?? message)
    }

    /// Whether an error is caused by the server's state and not by the statement: read-only (25006), rolled back in
    /// favour of another transaction (class 40), out of resources (53), lock not available (55P03), operator's
    /// intervention (57), I/O (58).
    private static func isTransient(_ sqlState: String) -> Bool {
        sqlState == "25006" || sqlState == "55P03" || ["40", "53", "57", "58"].contains(sqlState.prefix(2))
    }
}
