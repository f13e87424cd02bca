package import Logging
import Metrics
import ServiceLifecycle
import Synchronization
import ThreadExecutor

/// A pool of connections to one database, which ``run()`` keeps open.
///
/// Decision: docs/decisions/0022-make-or-buy.md
package final class PostgresClient: Service {
    /// Is told of a statement that succeeded (`nil`), or why it failed.
    package typealias Observer = @Sendable (PostgresError?, PostgresStatement, PostgresParameters) -> Void

    private let connections: [PostgresConnection]
    private let logger: Logger
    private let observer: Observer
    private let problems = Mutex(Problems())
    private let connectedGauge = Gauge(label: "securepush_postgres_connections")
    private let lossCounter = Counter(label: "securepush_postgres_connection_losses_total")

    /// Starts the connections' threads; ``run()`` connects.
    ///
    /// - Parameters:
    ///   - connections: the number of connections. Each has a thread here, and a process at the server.
    ///   - observer: called after each statement, before its caller gets the result; must not block.
    /// - Throws: ``PostgresError`` with code `unavailable` if no thread or file descriptor is left.
    package init(
        configuration: PostgresConfiguration, connections: Int = 4, logger: Logger,
        observer: @escaping Observer = { _, _, _ in }
    ) throws(PostgresError) {
        self.connections = try (0..<max(1, connections)).map { _ throws(PostgresError) in
            try PostgresConnection(configuration: configuration)
        }
        self.logger = logger
        self.observer = observer
    }

    /// Whether a query can be expected to succeed now.
    package var isConnected: Bool { connections.contains { $0.isConnected } }

    /// Why there is no connection; `nil` while there is one, and before the first attempt has ended.
    package var failure: PostgresError? { isConnected ? nil : problems.withLock { $0.failure } }

    /// Runs a statement as its own transaction, on the connection with the fewest queries in flight.
    ///
    /// - Throws: ``PostgresError``, with code `unavailable` at once while there is no connection; `CancellationError`.
    package func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters()
    ) async throws -> PostgresResult {
        guard let connection = leastBusy() else { throw PostgresError.notConnected }
        do {
            let result = try await connection.query(statement, parameters)
            observer(nil, statement, parameters)
            return result
        } catch {
            if let error = error as? PostgresError { observer(error, statement, parameters) }
            throw error
        }
    }

    /// Runs a query and gives its result to a callback, without a task.
    ///
    /// - Parameter completion: called exactly once, on the thread of the connection; while there is no connection, at
    ///   once on the caller's thread, with code `unavailable`. It must not block. From the connection's thread the next
    ///   query is sent without another wake-up.
    package func query(
        _ statement: PostgresStatement, _ parameters: PostgresParameters = PostgresParameters(),
        then completion: @escaping @Sendable (Result<PostgresResult, PostgresError>) -> Void
    ) {
        guard let connection = leastBusy() else { return completion(.failure(.notConnected)) }
        connection.query(statement, parameters) { [observer] result in
            if case .failure(let error) = result {
                observer(error, statement, parameters)
            } else {
                observer(nil, statement, parameters)
            }
            completion(result)
        }
    }

    /// Opens all connections, and reopens those that break, until graceful shutdown or cancellation; then closes all.
    package func run() async {
        await cancelWhenGracefulShutdown { await self.runUntilCancelled() }
    }

    /// Like ``run()``, but ignores graceful shutdown, so that its owner can still finish queries then.
    package func runUntilCancelled() async {
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
        while !Task.isCancelled {
            do {
                try await connection.connect()
                let start = ContinuousClock.now
                logger.debug("Connected to the database")
                problems.withLock { $0.failure = nil }
                reportConnections()
                let error = try await connection.waitUntilLost()
                lossCounter.increment()
                problems.withLock { $0.failure = error }
                backoff.connectionEnded(after: ContinuousClock.now - start)
                logger.log(
                    level: problems.withLock { $0.level(of: error) }, "Lost a connection to the database",
                    metadata: ["error": "\(error)"])
            } catch let error as PostgresError {
                problems.withLock { $0.failure = error }
                logger.log(
                    level: problems.withLock { $0.level(of: error) }, "Cannot connect to the database",
                    metadata: ["error": "\(error)"])
            } catch {
                // Cancelled.
                break
            }
            reportConnections()
            try? await Task.sleep(for: backoff.next())
        }
        await connection.close()
        reportConnections()
    }

    private func reportConnections() { connectedGauge.record(connections.count { $0.isConnected }) }
}

/// The problems that the connections of a client have met, so that a warning is logged once for all of them.
private struct Problems {
    private static let interval = Duration.seconds(60)
    /// Bounds the memory; there are few kinds of errors.
    private static let maxCount = 16

    /// Why the last attempt to connect failed, or the last connection ended; `nil` after a success.
    var failure: PostgresError?
    private var warned: [PostgresError: ContinuousClock.Instant] = [:]

    /// A warning for an error that was none within the last minute.
    mutating func level(of error: PostgresError) -> Logger.Level {
        let now = ContinuousClock.now
        warned = warned.filter { now - $0.value < Self.interval }
        guard warned[error] == nil, warned.count < Self.maxCount else { return .debug }
        warned[error] = now
        return .warning
    }
}
