/// One transaction of PostgreSQL or SQLite, on the thread of its connection. Every call blocks until the database has
/// answered.
///
/// A body may run again after a deadlock or after the failure of a neighbour in its group: it does nothing but run
/// statements and compute. An error that it throws rolls its statements back.
protocol SQLTransaction {
    /// Runs a statement.
    ///
    /// - Returns: the number of rows that it has changed.
    @discardableResult func run(_ sql: SQL) throws -> Int

    /// Runs statements one after another. On PostgreSQL they are sent with the next statement that has a result, or
    /// with the commit, which fails if one of them does.
    func run(each statements: [SQL]) throws

    /// Waits until no other transaction has locked one of these names, and locks them in this order until this one
    /// ends. On PostgreSQL they are locked when the next statement runs; SQLite has one writer.
    func lock(_ names: [String]) throws

    /// The first row of a SELECT, or of a statement with RETURNING.
    func first<Value>(_ sql: SQL, _ read: (inout SQLRow) throws -> Value) throws -> Value?

    func all<Value>(_ sql: SQL, _ read: (inout SQLRow) throws -> Value) throws -> [Value]
}

extension SQLTransaction {
    /// The only column of the first row; `nil` also for NULL.
    func first<Value: SQLDecodable>(_ sql: SQL) throws -> Value? {
        try first(sql) { row in try row() as Value? } ?? nil
    }

    func all<Value: SQLDecodable>(_ sql: SQL) throws -> [Value] { try all(sql) { row in try row() } }

    func exists(_ sql: SQL) throws -> Bool { try first(sql) { _ in true } ?? false }
}
