public import ThreadExecutor

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
