import Synchronization

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
        let answer = Answer<Void>()
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
        let answer = Answer<PostgresError>()
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
