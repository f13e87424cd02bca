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
