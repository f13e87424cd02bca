import Logging
import Synchronization
package import ThreadExecutor

/// One connection to a PostgreSQL server, in pipeline mode, on a thread of its own.
///
/// libpq's handle is not thread-safe and may block while connecting, so it is used on this actor's thread only. Many
/// queries can be in flight at once: each is sent at once, and the results arrive in the same order. After a connection
/// broke, ``connect()`` opens it again; ``PostgresClient`` does so.
package actor PostgresConnection {
    enum Phase {
        case idle
        case connecting(ConnectionHandle, Connecting)
        case connected(ConnectionHandle)
        /// Closed for good.
        case closed
    }

    struct Connecting {
        let deadline: ContinuousClock.Instant
        let promise: QueryPromise<Void>
        var untilWritable = true
    }

    package typealias Completion = @Sendable (Result<PostgresResult, PostgresError>) -> Void

    /// The state that any thread may read.
    final class Status: Sendable {
        let isConnected = Atomic(false)
        /// The number of queries without a result, sent or not.
        let inFlight = Atomic(0)
    }

    package nonisolated let configuration: PostgresConfiguration
    nonisolated let status = Status()
    nonisolated let executor: ThreadExecutor
    /// The queries that the thread has not taken yet. It takes all of them whenever it is about to wait. The callers
    /// bound their number: each group commit of a store has one query in flight, and other callers wait in a task.
    nonisolated let mailbox = Mutex<[WaitingQuery]>([])

    /// Whether a connection pooler stands between this program and the server.
    package internal(set) var isPooled = false

    var phase = Phase.idle
    var pipeline = PostgresPipeline<Completion, PostgresResult>()
    var lossPromises: [QueryPromise<PostgresError>] = []

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Starts the thread; does not connect yet.
    ///
    /// - Throws: ``PostgresError`` with code `unavailable` if no thread or file descriptor is left.
    package init(configuration: PostgresConfiguration) throws(PostgresError) {
        self.configuration = configuration
        do {
            executor = try ThreadExecutor(name: "postgres")
        } catch {
            throw PostgresError(.unavailable, "\(error)")
        }
        executor.setClient(self)
    }

    deinit {
        executor.stop()
        // The thread can take nothing any more.
        let (sent, waiting) = (pipeline.removeAll(), mailbox.withLock { $0 })
        let lost = PostgresError(.connectionLost, "The connection was released.")
        for completion in sent { completion(.failure(lost)) }
        for query in waiting { query.completion(.failure(.notConnected)) }
    }

    /// Whether queries can be sent.
    package nonisolated var isConnected: Bool { status.isConnected.load(ordering: .relaxed) }

    /// The ID of the server process for this connection (`pid` in `pg_stat_activity`); `nil` while not connected.
    package var serverProcess: Int32? {
        guard case .connected(let handle) = phase else { return nil }
        return handle.serverProcess
    }

    /// The number of queries that were sent and have no result yet.
    package var inFlight: Int { pipeline.count }

    /// Closes the connection for good; queries in flight fail.
    package func close() {
        disconnect(PostgresError(.connectionLost, "The connection was closed."))
        phase = .closed
    }

    /// Releases the handle and fails everything that waits for it.
    func disconnect(_ error: PostgresError) {
        if case .closed = phase { return }
        let attempt: QueryPromise<Void>? =
            if case .connecting(_, let connecting) = phase { connecting.promise } else { nil }
        let wasConnected = status.isConnected.exchange(false, ordering: .relaxed)
        // Frees the handle, and with it the socket.
        phase = .idle
        let code = error.code == .invalid ? error.code : .unavailable
        attempt?.fulfil(.failure(PostgresError(code, sqlState: error.sqlState, error.message)))
        fail(pipeline.removeAll(), with: error)
        guard wasConnected else { return }
        for promise in lossPromises { promise.fulfil(.success(error)) }
        lossPromises.removeAll()
    }
}

extension PostgresConnection {
    /// Connects, within the configuration's ``PostgresConfiguration/connectTimeout``.
    ///
    /// - Throws: ``PostgresError`` with code `unavailable`, also if the server refuses the credentials or is read-only
    ///   (``PostgresError/isReadOnly``); `invalid` for a database with another encoding than UTF-8, and behind a pooler
    ///   whose clients share sessions.
    package func connect() async throws {
        try Task.checkCancellation()
        let promise = try startConnecting()
        do {
            try await promise.value()
        } catch {
            // The attempt must not go on after its caller was cancelled.
            if error is CancellationError { disconnect(PostgresError(.unavailable, "Connecting was cancelled.")) }
            throw error
        }
    }

    func startConnecting() throws(PostgresError) -> QueryPromise<Void> {
        guard case .idle = phase else {
            throw PostgresError(.invalid, "The connection is closed, or already connected.")
        }
        let deadline = ContinuousClock.now + configuration.connectTimeout
        let handle = try ConnectionHandle.start(configuration)
        let promise = QueryPromise<Void>()
        phase = .connecting(handle, Connecting(deadline: deadline, promise: promise))
        return promise
    }

    /// Waits until the connection is lost, and returns why; returns at once while there is no connection.
    ///
    /// - Throws: `CancellationError`.
    package func waitUntilLost() async throws -> PostgresError {
        guard case .connected = phase else { return PostgresError(.unavailable, "There is no connection.") }
        let promise = QueryPromise<PostgresError>()
        lossPromises.append(promise)
        return try await promise.value()
    }

    /// Takes the next step of connecting once the socket is ready.
    func proceed(_ handle: ConnectionHandle, _ connecting: Connecting) {
        var connecting = connecting
        switch handle.proceed() {
        case .readable: connecting.untilWritable = false
        case .writable: connecting.untilWritable = true
        case .failed: return disconnect(handle.error(.unavailable))
        case .done:
            guard handle.enterPipeline() else { return disconnect(handle.error(.unavailable)) }
            return beginSession(handle, connecting)
        }
        phase = .connecting(handle, connecting)
    }
}

// The thread's calls run on the actor's own executor, so they may use its state.
extension PostgresConnection: ThreadExecutor.Client {
    /// For the thread: sends queries, and returns the events and the time that end the next wait.
    package nonisolated func prepareToWait() -> ThreadExecutor.Interest {
        assumeIsolated { $0.interest() }
    }

    /// For the thread: reads results, and checks deadlines.
    package nonisolated func waitEnded(readable: Bool, writable: Bool) {
        assumeIsolated { $0.serve(readable: readable, writable: writable) }
    }

    func interest() -> ThreadExecutor.Interest {
        sendMail()
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
            // If the socket accepts no more, sending also reads, and the socket does not become readable for that.
            receive(handle)
            drainDecrypted(handle)
            guard case .connected = phase else { return ThreadExecutor.Interest() }
            return ThreadExecutor.Interest(
                descriptor: handle.descriptor, untilWritable: flush == .more, deadline: pipeline.deadline)
        }
    }

    func serve(readable: Bool, writable: Bool) {
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
                // Results that arrived before the connection ended still count.
                let isAlive = handle.consumeInput()
                receive(handle)
                if !isAlive { return disconnect(handle.error(.connectionLost)) }
                drainDecrypted(handle)
            }
            if let deadline = pipeline.deadline, deadline <= .now {
                disconnect(PostgresError(.timeout, "No result within \(configuration.queryTimeout)."))
            }
        }
    }

    /// Reads the bytes that the TLS library has already decrypted: the socket does not become readable for them.
    ///
    /// Decision: docs/decisions/0020-a-c-connection-is-an-actor-on-its-thread.md
    private func drainDecrypted(_ handle: ConnectionHandle) {
        while case .connected = phase, handle.hasDecryptedBytes {
            let isAlive = handle.consumeInput()
            receive(handle)
            if !isAlive { disconnect(handle.error(.connectionLost)) }
        }
    }
}
