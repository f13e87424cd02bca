import Domain

/// A row, read from left to right: `Installation(id: try row(), owner: try row(), …)`.
struct SQLRow {
    /// The columns of a row, as a database gives them.
    protocol Columns {
        var columnCount: Int { get }
        func name(of column: Int) -> String
        /// - Throws: ``StorageError`` for a type that no column of this program has.
        func value(of column: Int) throws -> SQLValue
    }

    private let columns: any Columns
    private var column = 0

    init(_ columns: any Columns) { self.columns = columns }

    /// The next column, which must not be NULL.
    ///
    /// - Throws: ``StorageError`` with code `failed` for NULL and for a value that this program never writes.
    mutating func callAsFunction<Value: SQLDecodable>() throws -> Value {
        guard let value: Value = try self() else { throw unreadable(columns.name(of: column - 1)) }
        return value
    }

    /// The next column; `nil` for NULL.
    mutating func callAsFunction<Value: SQLDecodable>() throws -> Value? {
        guard column < columns.columnCount else { throw StorageError(.failed, "A row has too few columns.") }
        defer { column += 1 }
        let stored = try columns.value(of: column)
        if stored == .null { return nil }
        guard let value = Value(sql: stored) else { throw unreadable(columns.name(of: column)) }
        return value
    }

    /// The next column as another type: `try row.map(StorageCoding.decodeTags)`.
    mutating func map<Stored: SQLDecodable, Value>(_ convert: (Stored) throws -> Value) throws -> Value {
        try convert(self())
    }

    mutating func mapIfPresent<Stored: SQLDecodable, Value>(_ convert: (Stored) throws -> Value) throws -> Value? {
        guard let stored: Stored = try self() else { return nil }
        return try convert(stored)
    }

    mutating func skip(_ count: Int = 1) { column += count }
}
