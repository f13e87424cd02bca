import Logging
import Synchronization
import ThreadExecutor

/// One connection to a PostgreSQL server, in pipeline mode, on a thread of its own.
///
/// libpq's handle is not thread-safe and may block while connecting; all of it happens on this actor's thread. Many
/// queries can be under way at once: each is written as it comes, and answered in turn. A connection that broke can be
/// made anew by ``connect()``; ``PostgresClient`` does so.
public actor PostgresConnection {
    enum Phase {
        case idle
        case connecting(ConnectionHandle, Connecting)
        case connected(ConnectionHandle)
        /// Closed for good.
        case closed
    }

    /// An attempt to connect.
    struct Connecting {
        let deadline: ContinuousClock.Instant
        let answer: Answer<Void>
        var untilWritable = true
    }

    /// What may be asked from any thread.
    final class Status: Sendable {
        let isConnected = Atomic(false)
        /// Queries that callers wait for.
        let inFlight = Atomic(0)
    }

    public nonisolated let configuration: PostgresConfiguration
    nonisolated let status = Status()
    private let executor: ThreadExecutor

    var phase = Phase.idle
    var pipeline = PostgresPipeline<Answer<PostgresResult>, PostgresResult>()
    var lossAnswers: [Answer<PostgresError>] = []

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Starts the thread; connects to nothing yet.
    ///
    /// - Throws: ``PostgresError`` with code `unavailable` where no thread or descriptor is left for it.
    public init(configuration: PostgresConfiguration) throws(PostgresError) {
        self.configuration = configuration
        do {
            executor = try ThreadExecutor(name: "postgres")
        } catch {
            throw PostgresError(.unavailable, "\(error)")
        }
        executor.setClient(self)
    }

    deinit { executor.stop() }

    /// Whether queries can be sent.
    public nonisolated var isConnected: Bool { status.isConnected.load(ordering: .relaxed) }

    /// The process of the server that serves this connection, as `pg_stat_activity` has it; `nil` while not connected.
    public var serverProcess: Int32? {
        guard case .connected(let handle) = phase else { return nil }
        return handle.serverProcess
    }

    /// How many queries have been sent and not been answered.
    public var inFlight: Int { pipeline.count }

    /// Closes for good: what is under way fails.
    public func close() {
        disconnect(PostgresError(.connectionLost, "The connection was closed."))
        phase = .closed
    }

    /// Gives the handle up and fails all that waits for it.
    func disconnect(_ error: PostgresError) {
        if case .closed = phase { return }
        let attempt: Answer<Void>? = if case .connecting(_, let connecting) = phase { connecting.answer } else { nil }
        let wasConnected = status.isConnected.exchange(false, ordering: .relaxed)
        // Frees the handle, and with it the socket.
        phase = .idle
        attempt?.give(.failure(PostgresError(.unavailable, error.message)))
        fail(pipeline.removeAll(), with: error)
        guard wasConnected else { return }
        for answer in lossAnswers { answer.give(.success(error)) }
        lossAnswers.removeAll()
    }

    /// The oldest fails with the error itself; those behind it may have been done or not.
    private func fail(_ answers: [Answer<PostgresResult>], with error: PostgresError) {
        let lost = PostgresError(.connectionLost, sqlState: error.sqlState, error.message)
        for (position, answer) in answers.enumerated() { answer.give(.failure(position == 0 ? error : lost)) }
    }
}
