public import Logging
import Metrics
public import ServiceLifecycle
import Synchronization
import ThreadExecutor

/// A pool of connections to one database, which ``run()`` keeps open.
public final class PostgresClient: Service {
    private let connections: [PostgresConnection]
    private let logger: Logger
    private let connectedGauge = Gauge(label: "securepush_postgres_connections")
    private let lossCounter = Counter(label: "securepush_postgres_connection_losses_total")

    /// Starts the connections' threads; ``run()`` connects.
    ///
    /// - Parameter connections: the number of connections. Each has a thread here, and a process at the server.
    /// - Throws: ``PostgresError`` with code `unavailable` if no thread or file descriptor is left.
    public init(configuration: PostgresConfiguration, connections: Int = 4, logger: Logger) throws(PostgresError) {
        self.connections = try (0..<max(1, connections)).map { _ throws(PostgresError) in
            try PostgresConnection(configuration: configuration)
        }
        self.logger = logger
    }

    /// Whether a query can be expected to succeed now.
    public var isConnected: Bool { connections.contains { $0.isConnected } }

    /// Runs a statement as its own transaction, on the connection with the fewest queries in flight.
    ///
    /// - Throws: ``PostgresError``, with code `unavailable` at once while there is no connection; `CancellationError`.
    public func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters()
    ) async throws -> PostgresResult {
        guard let connection = leastBusy() else { throw PostgresError.notConnected }
        return try await connection.query(statement, parameters)
    }

    /// The same with a callback, without a task.
    ///
    /// - Parameter completion: called exactly once, on the thread of the connection; while there is no connection, at
    ///   once on the caller's thread, with code `unavailable`. It must not block. From the connection's thread the next
    ///   query is sent without another wake-up.
    public func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters(),
        then completion: @escaping @Sendable (Result<PostgresResult, PostgresError>) -> Void
    ) {
        guard let connection = leastBusy() else { return completion(.failure(.notConnected)) }
        connection.query(statement, parameters, then: completion)
    }

    /// Opens all connections, and reopens those that break, until graceful shutdown or cancellation; then closes all.
    public func run() async {
        await cancelWhenGracefulShutdown { await self.runUntilCancelled() }
    }

    /// Like ``run()``, but ignores graceful shutdown, so that its owner can still finish queries then.
    public func runUntilCancelled() async {
        await withDiscardingTaskGroup { group in
            for connection in connections { group.addTask { await self.keepOpen(connection) } }
        }
    }

    private func leastBusy() -> PostgresConnection? {
        connections.lazy.filter(\.isConnected).min {
            $0.status.inFlight.load(ordering: .relaxed) < $1.status.inFlight.load(ordering: .relaxed)
        }
    }

    private func keepOpen(_ connection: PostgresConnection) async {
        var backoff = Backoff()
        var failures = 0
        while !Task.isCancelled {
            do {
                try await connection.connect()
                logger.debug("Connected to the database")
                reportConnections()
                (backoff, failures) = (Backoff(), 0)
                let error = try await connection.waitUntilLost()
                lossCounter.increment()
                logger.warning("Lost a connection to the database", metadata: ["error": "\(error)"])
            } catch is CancellationError {
                break
            } catch {
                failures += 1
                let level: Logger.Level = failures == 1 ? .warning : .debug
                logger.log(level: level, "Cannot connect to the database", metadata: ["error": "\(error)"])
            }
            reportConnections()
            try? await Task.sleep(for: backoff.next())
        }
        await connection.close()
        reportConnections()
    }

    private func reportConnections() { connectedGauge.record(connections.count { $0.isConnected }) }
}
