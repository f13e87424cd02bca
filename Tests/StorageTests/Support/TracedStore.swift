import Domain
import GRDB
import Synchronization

@testable import Storage

/// A database in memory that runs the ports' calls, and remembers the texts of their statements.
final class TracedStore: SQLStore {
    let withdrawals = WithdrawalMode.read
    private let queue: DatabaseQueue
    private let seen: Mutex<Set<String>>

    init(_ schema: StorageSchema = .services) throws {
        var configuration = Configuration()
        configuration.prepareDatabase { db in db.add(function: SQLiteTransaction.fromHex) }
        queue = try DatabaseQueue(configuration: configuration)
        try queue.write(schema.create)
        seen = Mutex([])
    }

    /// Without BEGIN, COMMIT and the like.
    var statements: Set<String> {
        seen.withLock { seen in
            seen.filter { text in
                ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH"].contains { text.hasPrefix($0) }
            }
        }
    }

    func traced<Value: Sendable>(_ body: @Sendable (SQLiteTransaction) throws -> Value) throws -> Value {
        try queue.write { db in
            db.trace { event in
                guard case .statement(let statement) = event else { return }
                self.seen.withLock { _ = $0.insert(statement.sql) }
            }
            defer { db.trace(nil) }
            return try body(SQLiteTransaction(db))
        }
    }

    func reading<Value: Sendable>(
        kind: String, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try traced(body)
    }

    func writing<Value: Sendable>(
        kind: String, weight: Int, bytes: Int, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try traced(body)
    }

    func run(weight: Int, _ sql: Storage.SQL) async throws -> Int { try traced { try $0.run(sql) } }

    func change<Value: Sendable>(
        weight: Int, _ sql: Storage.SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value] {
        try traced { try $0.all(sql, read) }
    }

    func all<Value: Sendable>(
        _ sql: Storage.SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value] {
        try traced { try $0.all(sql, read) }
    }
}
