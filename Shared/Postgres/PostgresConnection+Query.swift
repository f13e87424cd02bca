extension PostgresConnection {
    /// Runs a statement as its own transaction, or in the transaction that was begun on this connection.
    ///
    /// Queries are sent in the order of the calls, without waiting for each other's results.
    ///
    /// - Throws: ``PostgresError``, or `CancellationError`: a query that was sent is still executed, but its result is
    ///   ignored.
    public func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters()
    ) async throws -> PostgresResult {
        try Task.checkCancellation()
        return try await send(statement, parameters).value()
    }

    /// Runs the queries that `body` sends on this connection in one transaction. Nothing else may use the connection
    /// meanwhile.
    ///
    /// - Throws: ``PostgresError``, or the error that `body` throws; the transaction is rolled back then.
    public nonisolated func withTransaction<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        _ = try await query(.begin)
        do {
            let value = try await body()
            _ = try await query(.commit)
            return value
        } catch {
            await rollBack()
            throw error
        }
    }

    /// Sends `ROLLBACK` even if the task was cancelled; a lost connection is rolled back by the server.
    private func rollBack() { _ = try? send(.rollback, PostgresParameters()) }

    /// Runs statements without parameters, in order, such as those of a migration.
    ///
    /// - Throws: ``PostgresError`` of the first statement that fails, or `CancellationError`.
    public func execute(_ statements: [String]) async throws {
        for sql in statements { _ = try await query(PostgresStatement(sql, isPrepared: false)) }
    }

    /// Hands a query to libpq.
    private func send(
        _ statement: PostgresStatement, _ parameters: PostgresParameters
    ) throws(PostgresError) -> QueryPromise<PostgresResult> {
        guard case .connected(let handle) = phase else {
            throw PostgresError(.unavailable, "There is no connection to the database.")
        }
        let (name, isNew) = try pipeline.name(for: statement, parameters)
        let isSent =
            (!isNew || handle.sendPrepare(name, statement.sql, types: parameters.types))
            && handle.sendQuery(name, parameters) && handle.sendSync()
        let promise = QueryPromise<PostgresResult>()
        let deadline = ContinuousClock.now + configuration.queryTimeout
        pipeline.sent(promise, statement: statement, isPreparing: isNew, deadline: deadline)
        if !isSent { disconnect(handle.error(.connectionLost)) }
        return promise
    }

    /// Delivers all results that have fully arrived.
    func receive(_ handle: ConnectionHandle) {
        while !pipeline.isEmpty, let event = handle.nextEvent() {
            if case .failure(let error) = event, error.code == .connectionLost { return disconnect(error) }
            switch pipeline.receive(event) {
            case .none: break
            case .complete(let promise, let outcome): promise.fulfil(outcome.mapError { $0 })
            case .fail:
                return disconnect(PostgresError(.connectionLost, "The server's replies do not match the queries."))
            }
        }
    }
}

extension PostgresStatement {
    static let begin = PostgresStatement("BEGIN", isPrepared: false)
    static let commit = PostgresStatement("COMMIT", isPrepared: false)
    static let rollback = PostgresStatement("ROLLBACK", isPrepared: false)
}
