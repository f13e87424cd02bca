import Domain
import Foundation
import Foundations
import GRDB

extension SQLiteStore: SQLStore {
    var readsAtOnce: Bool { database.isInMemory }

    func reading<Value: Sendable>(
        kind: String, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try checkRunning()
        return try await database.read(kind: kind) { db in try body(SQLiteTransaction(db)) }
    }

    func writing<Value: Sendable>(
        kind: String, weight: Int, bytes: Int, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await commit(kind, weight: weight, bytes: bytes, body)
    }

    func run(weight: Int, _ sql: SQL) async throws -> Int {
        try await commit(sql.text(.sqlite), weight: weight) { db in try db.run(sql) }
    }

    func change<Value: Sendable>(
        weight: Int, _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value] {
        try await commit(sql.text(.sqlite), weight: weight) { db in try db.all(sql, read) }
    }

    func all<Value: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value] {
        try await reading(kind: sql.text(.sqlite)) { db in try db.all(sql, read) }
    }
}

/// Runs statements on a connection of GRDB. Each is prepared once per connection.
struct SQLiteTransaction: SQLTransaction {
    let db: Database

    init(_ db: Database) { self.db = db }

    @discardableResult func run(_ sql: SQL) throws -> Int {
        try prepare(sql).execute()
        return db.changesCount
    }

    func run(each statements: [SQL]) throws {
        for sql in statements { try run(sql) }
    }

    func lock(_ names: [String]) {}

    func first<Value>(_ sql: SQL, _ read: (inout SQLRow) throws -> Value) throws -> Value? {
        guard let found = try Row.fetchOne(prepare(sql)) else { return nil }
        var row = SQLRow(found)
        return try read(&row)
    }

    func all<Value>(_ sql: SQL, _ read: (inout SQLRow) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        let rows = try Row.fetchCursor(prepare(sql))
        while let next = try rows.next() {
            var row = SQLRow(next)
            values.append(try read(&row))
        }
        return values
    }

    private func prepare(_ sql: SQL) throws -> Statement {
        let statement = try db.cachedStatement(sql: sql.text(.sqlite))
        try statement.setArguments(StatementArguments(sql.parameters.map(\.databaseValue)))
        return statement
    }
}

extension SQLiteTransaction {
    /// Bytes from hexadecimal digits. SQLite has `unhex` since version 3.41.
    static let fromHex = DatabaseFunction("from_hex", argumentCount: 1, pure: true) { values in
        guard let text = values.first.flatMap(String.fromDatabaseValue) else { return nil }
        let digits = text.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
        return Data(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }
}

extension SQLParameter {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .value(_, let value): value.databaseValue
        case .list(_, let values): "[\(values.map(\.json).joined(separator: ","))]".databaseValue
        }
    }
}

extension SQLValue {
    fileprivate var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .bool(let bool): bool.databaseValue
        case .integer(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .bytes(let bytes): Data(bytes).databaseValue
        case .id(let id): Data(id.bytes).databaseValue
        }
    }

    /// As an element of a list, with hexadecimal digits for bytes.
    fileprivate var json: String {
        switch self {
        case .null: return "null"
        case .bool(let bool): return bool ? "1" : "0"
        case .integer(let number): return "\(number)"
        case .text(let text):
            var bytes: [UInt8] = []
            JSONText.append(text, to: &bytes)
            return String(decoding: bytes, as: UTF8.self)
        case .bytes(let bytes): return "\"\(bytes.hex)\""
        case .id(let id): return "\"\(id.bytes.hex)\""
        }
    }
}

extension Row: SQLRow.Columns {
    var columnCount: Int { count }

    func name(of column: Int) -> String { columnNames.dropFirst(column).first ?? "" }

    func value(of column: Int) throws -> SQLValue {
        switch (self[column] as DatabaseValue).storage {
        case .null: .null
        case .int64(let number): .integer(number)
        case .string(let text): .text(text)
        case .blob(let data): .bytes([UInt8](data))
        case .double: throw Storage.unreadable(name(of: column))
        }
    }
}
