import Synchronization
import ThreadExecutor

extension PostgresConnection {
    /// Runs a statement as its own transaction, or in the transaction that was begun on this connection.
    ///
    /// Queries are sent in the order of the calls, without waiting for each other's results.
    ///
    /// - Throws: ``PostgresError``, or `CancellationError`: a query that was sent is still executed, but its result is
    ///   ignored.
    package nonisolated func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters()
    ) async throws -> PostgresResult {
        try Task.checkCancellation()
        let promise = QueryPromise<PostgresResult>()
        query(statement, parameters) { promise.fulfil($0.mapError { $0 }) }
        return try await promise.value()
    }

    /// Runs a query for a callback, without a task: leaves it in the mailbox for the thread, and returns.
    ///
    /// - Parameter completion: called exactly once, on the connection's thread, or where the connection is released. It
    ///   must not block. With code `unavailable`, nothing was sent.
    package nonisolated func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters(),
        then completion: @escaping Completion
    ) {
        status.inFlight.add(1, ordering: .relaxed)
        let query = WaitingQuery(statement: statement, parameters: parameters, completion: completion)
        let wasEmpty = mailbox.withLock { mail in
            defer { mail.append(query) }
            return mail.isEmpty
        }
        // The thread takes all mail at once, so only the first letter needs a call.
        if wasEmpty { executor.post() }
    }

    /// Runs the queries that `body` sends on this connection in one transaction. Nothing else may use the connection
    /// meanwhile.
    ///
    /// - Throws: ``PostgresError``, or the error that `body` throws; the transaction is rolled back then.
    package nonisolated func withTransaction<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        _ = try await query(.begin)
        do {
            let value = try await body()
            _ = try await query(.commit)
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Sends `ROLLBACK` even if the task was cancelled; a lost connection is rolled back by the server.
    private nonisolated func rollBack() { query(.rollback) { _ in } }

    /// Runs statements without parameters, in order, such as those of a migration.
    ///
    /// - Throws: ``PostgresError`` of the first statement that fails, or `CancellationError`.
    package nonisolated func execute(_ statements: [String]) async throws {
        for sql in statements { _ = try await query(PostgresStatement(sql, isPrepared: false)) }
    }

    /// Hands the queries in the mailbox to libpq. Without a connection they fail, because they were not sent.
    func sendMail() {
        var queries: [WaitingQuery] = []
        mailbox.withLock { swap(&$0, &queries) }
        guard !queries.isEmpty else { return }
        guard isConnected else {
            for query in queries { complete(query.completion, with: .failure(.notConnected)) }
            return
        }
        let deadline = ContinuousClock.now + configuration.queryTimeout
        for query in queries { send(query, deadline: deadline) }
    }

    func send(_ query: WaitingQuery, deadline: ContinuousClock.Instant) {
        guard case .connected(let handle) = phase else {
            return complete(query.completion, with: .failure(.notConnected))
        }
        do throws(PostgresError) {
            let (statement, parameters) = (query.statement, query.parameters)
            let (name, isNew) = try pipeline.name(for: statement, parameters)
            let isSent =
                (!isNew || handle.sendPrepare(name, statement.sql, types: parameters.types))
                && handle.sendQuery(name, parameters) && handle.sendSync()
            pipeline.sent(query.completion, statement: statement, isPreparing: isNew, deadline: deadline)
            if !isSent { disconnect(handle.error(.connectionLost)) }
        } catch {
            complete(query.completion, with: .failure(error))
        }
    }

    /// Delivers all results that have fully arrived.
    func receive(_ handle: ConnectionHandle) {
        while !pipeline.isEmpty, let event = handle.nextEvent() {
            if case .failure(let error) = event, error.code == .connectionLost { return disconnect(error) }
            switch pipeline.receive(event) {
            case .none: break
            case .complete(let completion, let outcome):
                complete(completion, with: outcome)
                if case .failure(let error) = outcome, error.isReadOnly { return disconnect(.lostAsReadOnly) }
            case .fail:
                return disconnect(PostgresError(.connectionLost, "The server's replies do not match the queries."))
            }
        }
    }

    /// The oldest query fails with the error itself; the later ones may have been executed or not.
    func fail(_ completions: [Completion], with error: PostgresError) {
        let lost = PostgresError(.connectionLost, sqlState: error.sqlState, error.message)
        var isOldest = true
        for completion in completions {
            complete(completion, with: .failure(isOldest ? error : lost))
            isOldest = false
        }
    }

    /// The completion may send the next query, so this one no longer counts.
    private func complete(_ completion: Completion, with result: Result<PostgresResult, PostgresError>) {
        status.inFlight.subtract(1, ordering: .relaxed)
        completion(result)
    }
}

/// A query that waits in the mailbox for the connection's thread.
struct WaitingQuery: Sendable {
    let statement: PostgresStatement
    let parameters: PostgresParameters
    let completion: PostgresConnection.Completion
}

extension PostgresStatement {
    static let begin = PostgresStatement("BEGIN", isPrepared: false)
    static let commit = PostgresStatement("COMMIT", isPrepared: false)
    static let rollback = PostgresStatement("ROLLBACK", isPrepared: false)
}
