import Logging
import Synchronization
public import ThreadExecutor

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
        let answer: QueryPromise<Void>
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
    var pipeline = PostgresPipeline<QueryPromise<PostgresResult>, PostgresResult>()
    var lossAnswers: [QueryPromise<PostgresError>] = []

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
        let attempt: QueryPromise<Void>? = if case .connecting(_, let connecting) = phase { connecting.answer } else { nil }
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
    private func fail(_ answers: [QueryPromise<PostgresResult>], with error: PostgresError) {
        let lost = PostgresError(.connectionLost, sqlState: error.sqlState, error.message)
        for (position, answer) in answers.enumerated() { answer.give(.failure(position == 0 ? error : lost)) }
    }
}

extension PostgresConnection {
    /// Connects, within the configuration's ``PostgresConfiguration/connectTimeout``.
    ///
    /// - Throws: ``PostgresError`` with code `unavailable`, also for credentials that the server refuses.
    public func connect() async throws {
        try Task.checkCancellation()
        guard case .idle = phase else {
            throw PostgresError(.invalid, "The connection is closed, or connected already.")
        }
        let deadline = ContinuousClock.now + configuration.connectTimeout
        let handle = try ConnectionHandle.start(configuration)
        let answer = QueryPromise<Void>()
        phase = .connecting(handle, Connecting(deadline: deadline, answer: answer))
        do {
            try await answer.value()
        } catch {
            // Given up by its caller: the attempt must not go on without one.
            if error is CancellationError { disconnect(PostgresError(.unavailable, "Connecting was cancelled.")) }
            throw error
        }
    }

    /// Waits until the connection is lost, and says why; at once while there is none.
    ///
    /// - Throws: `CancellationError`.
    public func lost() async throws -> PostgresError {
        guard case .connected = phase else { return PostgresError(.unavailable, "There is no connection.") }
        let answer = QueryPromise<PostgresError>()
        lossAnswers.append(answer)
        return try await answer.value()
    }

    /// Takes the next step, the socket being ready.
    func proceed(_ handle: ConnectionHandle, _ connecting: Connecting) {
        var connecting = connecting
        switch handle.proceed() {
        case .readable: connecting.untilWritable = false
        case .writable: connecting.untilWritable = true
        case .failed: return disconnect(handle.error(.unavailable))
        case .done:
            guard handle.enterPipeline() else { return disconnect(handle.error(.unavailable)) }
            phase = .connected(handle)
            status.isConnected.store(true, ordering: .relaxed)
            return connecting.answer.give(.success(()))
        }
        phase = .connecting(handle, connecting)
    }
}

// The thread's calls come on the actor's own executor, so its state may be used.
extension PostgresConnection: ThreadExecutor.Client {
    public nonisolated func prepareToWait() -> ThreadExecutor.Interest {
        assumeIsolated { $0.interest() }
    }

    public nonisolated func waitEnded(readable: Bool, writable: Bool) {
        assumeIsolated { $0.serve(readable: readable, writable: writable) }
    }

    private func interest() -> ThreadExecutor.Interest {
        switch phase {
        case .idle, .closed: return ThreadExecutor.Interest()
        case .connecting(let handle, let connecting):
            return ThreadExecutor.Interest(
                descriptor: handle.descriptor, untilWritable: connecting.untilWritable, deadline: connecting.deadline)
        case .connected(let handle):
            let flush = handle.flush()
            if flush == .failed {
                disconnect(handle.error(.connectionLost))
                return ThreadExecutor.Interest()
            }
            // Sending reads too where the socket takes no more, and the socket does not tell of what was read then.
            receive(handle)
            drainDecrypted(handle)
            guard case .connected = phase else { return ThreadExecutor.Interest() }
            return ThreadExecutor.Interest(
                descriptor: handle.descriptor, untilWritable: flush == .more, deadline: pipeline.deadline)
        }
    }

    private func serve(readable: Bool, writable: Bool) {
        switch phase {
        case .idle, .closed: break
        case .connecting(let handle, let connecting):
            if readable || writable {
                proceed(handle, connecting)
            } else if connecting.deadline <= .now {
                disconnect(PostgresError(.unavailable, "No connection within \(configuration.connectTimeout)."))
            }
        case .connected(let handle):
            if readable {
                // What came before the end of the connection still counts.
                let isAlive = handle.consumeInput()
                receive(handle)
                if !isAlive { return disconnect(handle.error(.connectionLost)) }
                drainDecrypted(handle)
            }
            if let deadline = pipeline.deadline, deadline <= .now {
                disconnect(PostgresError(.timeout, "No answer within \(configuration.queryTimeout)."))
            }
        }
    }

    /// Takes what the TLS library has decrypted already: waiting for the socket, nobody would hear of it.
    private func drainDecrypted(_ handle: ConnectionHandle) {
        while case .connected = phase, handle.hasDecryptedBytes {
            let isAlive = handle.consumeInput()
            receive(handle)
            if !isAlive { disconnect(handle.error(.connectionLost)) }
        }
    }
}
