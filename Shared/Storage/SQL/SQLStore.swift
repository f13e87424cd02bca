import Domain

/// A store that runs ``SQL``. A port that is an extension of it is written once for both databases.
///
/// Decision: docs/decisions/0023-one-text-of-sql.md
protocol SQLStore: Sendable {
    /// See ``StorageConfiguration/withdrawals``.
    var withdrawals: WithdrawalMode { get }

    /// Whether a read costs no thread hop and no round trip, so that sharing one saves nothing.
    var readsAtOnce: Bool { get }

    /// Reads from one snapshot of the database.
    ///
    /// - Parameter kind: names the kind of work (see ``FailedWork``); by default the function that calls.
    /// - Throws: ``StorageError``, or the error of the body.
    func reading<Value: Sendable>(
        kind: String, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value

    /// Changes the database in one transaction. Cancelling the caller has no effect: nothing stays half done.
    ///
    /// - Parameters:
    ///   - weight: how many changes it counts as when SQLite forms groups.
    ///   - bytes: the approximate memory while it waits.
    func writing<Value: Sendable>(
        kind: String, weight: Int, bytes: Int, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value

    /// Runs one statement that changes rows: on PostgreSQL in one round trip, without BEGIN and COMMIT. Like
    /// ``write(kind:weight:bytes:_:)`` it is not cancelled.
    ///
    /// - Returns: the number of rows that it has changed.
    @discardableResult func run(weight: Int, _ sql: SQL) async throws -> Int

    /// Runs a statement with RETURNING as a change of its own, and reads the rows that it has changed.
    func change<Value: Sendable>(
        weight: Int, _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value]

    /// The rows of one SELECT.
    func all<Value: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value]

    /// The rows of one SELECT with a callback: on PostgreSQL without a task.
    ///
    /// - Parameter completion: called once, on any thread, so it must not block.
    func all<Value: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value,
        then completion: @escaping @Sendable (Result<[Value], any Error>) -> Void
    )

    /// Inserts rows: on PostgreSQL in one statement, in one round trip. Like ``write(kind:weight:bytes:_:)`` it is not
    /// cancelled.
    ///
    /// - Parameter bytes: the approximate memory while they wait.
    func insert(_ rows: SQLRows, bytes: Int) async throws
}

extension SQLStore {
    var readsAtOnce: Bool { false }

    func all<Value: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value,
        then completion: @escaping @Sendable (Result<[Value], any Error>) -> Void
    ) {
        Task {
            do { completion(.success(try await all(sql, read))) } catch { completion(.failure(error)) }
        }
    }

    func insert(_ rows: SQLRows, bytes: Int) async throws {
        let statements = rows.statements
        if statements.isEmpty { return }
        try await write(weight: statements.count, bytes: bytes) { db in try db.run(each: statements) }
    }

    func read<Value: Sendable>(
        kind: String = #function, _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await reading(kind: kind, body)
    }

    func write<Value: Sendable>(
        kind: String = #function, weight: Int = 1, bytes: Int = 512,
        _ body: @escaping @Sendable (any SQLTransaction) throws -> Value
    ) async throws -> Value {
        try await writing(kind: kind, weight: weight, bytes: bytes, body)
    }

    @discardableResult func run(_ sql: SQL) async throws -> Int { try await run(weight: 1, sql) }

    func change<Value: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> [Value] {
        try await change(weight: 1, sql, read)
    }

    /// The first row of one SELECT.
    func first<Value: Sendable>(
        _ sql: SQL, _ read: @escaping @Sendable (inout SQLRow) throws -> Value
    ) async throws -> Value? {
        try await all(sql, read).first
    }

    /// The only column of the first row; `nil` also for NULL.
    func first<Value: SQLDecodable & Sendable>(_ sql: SQL) async throws -> Value? {
        try await first(sql) { row in try row() as Value? } ?? nil
    }

    func all<Value: SQLDecodable & Sendable>(_ sql: SQL) async throws -> [Value] {
        try await all(sql) { row in try row() }
    }
}
