extension PostgresConnection {
    /// Runs a statement as a transaction of its own, unless one was begun on this connection.
    ///
    /// Queries are sent in the order of the calls, without waiting for one another's answers.
    ///
    /// - Throws: ``PostgresError``, or `CancellationError`: a query that was sent is not withdrawn then, only its
    ///   answer is not waited for.
    public func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters()
    ) async throws -> PostgresResult {
        try Task.checkCancellation()
        return try await send(statement, parameters).value()
    }

    /// Runs what `body` asks of this connection in one transaction, all or none. Nothing else may use the connection
    /// meanwhile.
    ///
    /// - Throws: ``PostgresError``, or what `body` throws.
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

    /// Sent even where the task was cancelled; a connection that is lost has rolled back already.
    private func rollBack() { _ = try? send(.rollback, PostgresParameters()) }

    /// Runs statements that take no parameters, in order, in one transaction: a migration.
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
        let answer = QueryPromise<PostgresResult>()
        let deadline = ContinuousClock.now + configuration.queryTimeout
        pipeline.sent(answer, statement: statement, isPreparing: isNew, deadline: deadline)
        if !isSent { disconnect(handle.error(.connectionLost)) }
        return answer
    }

    /// Takes all answers that have fully arrived.
    func receive(_ handle: ConnectionHandle) {
        while !pipeline.isEmpty, let event = handle.nextEvent() {
            if case .failure(let error) = event, error.code == .connectionLost { return disconnect(error) }
            switch pipeline.receive(event) {
            case .none: break
            case .complete(let answer, let outcome): answer.give(outcome.mapError { $0 })
            case .fail: return disconnect(PostgresError(.connectionLost, "The server's answers are out of step."))
            }
        }
    }
}

extension PostgresStatement {
    static let begin = PostgresStatement("BEGIN", isPrepared: false)
    static let commit = PostgresStatement("COMMIT", isPrepared: false)
    static let rollback = PostgresStatement("ROLLBACK", isPrepared: false)
}
