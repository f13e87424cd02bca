import Synchronization
import ThreadExecutor

/// A transaction whose statements are run by blocking calls, on the thread of its connection.
package struct PostgresTransaction {
    /// Is told of a statement that succeeded (`nil`), or why it failed.
    package typealias Observer = PostgresClient.Observer

    package typealias Query = (statement: PostgresStatement, parameters: PostgresParameters)

    private final class State {
        var hasBegun = false
        /// What ``PostgresTransaction/queryLater(_:)`` was given since the last round trip.
        var waiting: [Query] = []
        /// The server ignores all further statements after the first that fails.
        var failure: PostgresError?
    }

    private let connection: PostgresConnection
    private let isReadOnly: Bool
    private let observer: Observer
    private let state = State()

    init(_ connection: PostgresConnection, isReadOnly: Bool, observer: @escaping Observer) {
        self.connection = connection
        self.isReadOnly = isReadOnly
        self.observer = observer
    }

    /// Runs a statement, and waits for its result.
    ///
    /// - Throws: ``PostgresError``.
    package func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters
    ) throws(PostgresError) -> PostgresResult {
        if let failure = state.failure { throw failure }
        var all = state.waiting + [(statement, parameters)]
        state.waiting = []
        // Sent together with the first statement.
        if !state.hasBegun { all.insert((isReadOnly ? .beginReading : .begin, PostgresParameters()), at: 0) }
        let results = connection.assumeIsolated { $0.block(all) }
        let needsBegin = !state.hasBegun
        state.hasBegun = true
        var last: PostgresResult?
        for (query, result) in zip(all, results) {
            switch result {
            case .success(let value):
                observer(nil, query.statement, query.parameters)
                last = value
            case .failure(let error):
                state.failure = error
                if needsBegin, last == nil {
                    // The statements behind it ran without a transaction.
                    if error.code == .unavailable { throw error }
                    let lost = PostgresError(.connectionLost, sqlState: error.sqlState, error.message)
                    connection.assumeIsolated { $0.disconnect(lost) }
                    throw lost
                }
                observer(error, query.statement, query.parameters)
                throw error
            }
        }
        guard let last else { throw PostgresError(.server, "The server sent no result.") }
        return last
    }

    /// Leaves statements whose results nobody needs to the next round trip, which may be that of the commit.
    ///
    /// One that fails fails the statement behind it, and the transaction.
    package func queryLater(_ queries: [Query]) { state.waiting += queries }

    /// Nobody needs to know that a transaction has ended which only read.
    fileprivate func commit() throws(PostgresError) {
        if isReadOnly { return rollBack() }
        guard state.hasBegun || !state.waiting.isEmpty else { return }
        _ = try query(.commit, PostgresParameters())
    }

    /// The next transaction on this connection comes behind it; a lost connection is rolled back by the server.
    fileprivate func rollBack() {
        guard state.hasBegun else { return }
        connection.assumeIsolated { $0.sendAndForget(.rollback) }
    }
}

extension PostgresConnection {
    /// Connects if necessary, and runs a transaction on this thread, which does nothing else meanwhile. A statement
    /// that fails fails the transaction, even if the body catches the error.
    ///
    /// - Throws: ``PostgresError``, or the body's error; the transaction is rolled back then.
    func transaction<Value>(
        isReadOnly: Bool, observer: @escaping PostgresClient.Observer, _ body: (PostgresTransaction) throws -> Value
    ) throws -> Value {
        try blockUntilConnected()
        let transaction = PostgresTransaction(self, isReadOnly: isReadOnly, observer: observer)
        do {
            let value = try body(transaction)
            try transaction.commit()
            return value
        } catch {
            transaction.rollBack()
            throw error
        }
    }

    private func blockUntilConnected() throws {
        // The server may have closed it meanwhile.
        if isConnected { serve(readable: true, writable: false) }
        if isConnected { return }
        if case .closed = phase { throw PostgresError.notConnected }
        let promise = try startConnecting()
        block { promise.result != nil }
        try promise.result?.get()
    }

    /// Runs statements in their order. All are sent before the first result is awaited.
    fileprivate func block(_ queries: [PostgresTransaction.Query]) -> [Result<PostgresResult, PostgresError>] {
        let deadline = ContinuousClock.now + configuration.queryTimeout
        let promises = queries.map { query in
            let promise = QueryPromise<Result<PostgresResult, PostgresError>>()
            enqueue(query.statement, query.parameters, deadline: deadline) { promise.fulfil(.success($0)) }
            return promise
        }
        block { promises.allSatisfy { $0.result != nil } }
        return promises.map { promise in
            if case .success(let result)? = promise.result { return result }
            return .failure(.notConnected)
        }
    }

    fileprivate func sendAndForget(_ statement: PostgresStatement) {
        enqueue(statement, PostgresParameters(), deadline: .now + configuration.queryTimeout) { _ in }
    }

    private func enqueue(
        _ statement: PostgresStatement, _ parameters: PostgresParameters, deadline: ContinuousClock.Instant,
        then completion: @escaping Completion
    ) {
        status.inFlight.add(1, ordering: .relaxed)
        send(WaitingQuery(statement: statement, parameters: parameters, completion: completion), deadline: deadline)
    }

    /// Serves the connection on this thread until something has happened. The connection's own time limits end it.
    private func block(until isDone: () -> Bool) {
        while !isDone() {
            let interest = interest()
            // Sending may have received the rest, or found the connection lost.
            if isDone() || interest.descriptor == nil { return }
            let (readable, writable) = executor.block(interest)
            serve(readable: readable, writable: writable)
        }
    }
}

extension PostgresStatement {
    /// One snapshot for all statements.
    fileprivate static let beginReading = PostgresStatement(
        "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", isPrepared: false)
}
