import Synchronization

/// Connections for transactions of several statements, which block a thread each. They are opened when they are needed.
///
/// Decision: docs/decisions/0024-cold-transactions-block-their-connection.md
package final class PostgresTransactions: Sendable {
    /// One more than this is refused.
    private static let maxWaiting = 1024
    private static let maxTries = 3

    private struct State {
        var connections: [PostgresConnection] = []
        /// The transactions on each connection, running or waiting.
        var loads: [Int] = []
    }

    private let configuration: PostgresConfiguration
    private let maxConnections: Int
    private let observer: PostgresClient.Observer
    private let state = Mutex(State())

    /// - Parameter observer: called after each statement on the thread of its connection; must not block.
    package init(
        configuration: PostgresConfiguration, connections: Int = 4,
        observer: @escaping PostgresClient.Observer = { _, _, _ in }
    ) {
        self.configuration = configuration
        maxConnections = connections
        self.observer = observer
    }

    /// Runs a transaction, and again if the server rolled it back in favour of another one. Cancelling the caller has
    /// no effect; the time limits of waiting, connecting and of each statement end it.
    ///
    /// - Parameter isReadOnly: whether all its statements read, from one snapshot.
    /// - Throws: ``PostgresError``, or the body's error; the transaction is rolled back then.
    package func run<Value: Sendable>(
        isReadOnly: Bool, _ body: @escaping @Sendable (PostgresTransaction) throws -> Value
    ) async throws -> Value {
        let (place, connection) = try take()
        defer { state.withLock { $0.loads[place] -= 1 } }
        let deadline = ContinuousClock.now + configuration.queryTimeout
        return try await connection.transaction(
            isReadOnly: isReadOnly, before: deadline, tries: Self.maxTries, observer: observer, body)
    }

    /// Closes all connections, after the transactions that wait for them.
    package func close() async {
        for connection in state.withLock({ $0.connections }) { await connection.close() }
    }

    private func take() throws(PostgresError) -> (place: Int, connection: PostgresConnection) {
        try state.withLock { state throws(PostgresError) in
            let least = state.loads.indices.min { state.loads[$0] < state.loads[$1] }
            if let least, state.loads[least] == 0 || state.connections.count >= maxConnections {
                guard state.loads[least] < Self.maxWaiting / maxConnections else {
                    throw PostgresError(.unavailable, "Too many transactions are waiting for the database.")
                }
                state.loads[least] += 1
                return (least, state.connections[least])
            }
            state.connections.append(try PostgresConnection(configuration: configuration))
            state.loads.append(1)
            return (state.loads.count - 1, state.connections[state.loads.count - 1])
        }
    }
}

extension PostgresConnection {
    fileprivate func transaction<Value>(
        isReadOnly: Bool, before deadline: ContinuousClock.Instant, tries: Int,
        observer: @escaping PostgresClient.Observer, _ body: @Sendable (PostgresTransaction) throws -> Value
    ) throws -> Value {
        guard deadline > .now else { throw PostgresError(.unavailable, "The database is too busy.") }
        for _ in 1..<tries {
            do {
                return try transaction(isReadOnly: isReadOnly, observer: observer, body)
            } catch let error as PostgresError where error.isRolledBack {}
        }
        return try transaction(isReadOnly: isReadOnly, observer: observer, body)
    }
}

extension PostgresError {
    /// Class 40: a deadlock, or another transaction came first.
    fileprivate var isRolledBack: Bool { sqlState?.hasPrefix("40") == true }
}
