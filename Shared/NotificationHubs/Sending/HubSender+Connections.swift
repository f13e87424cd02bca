import Domain
import Foundations
import Logging
import NIOCore
import OutgoingHTTP

extension HubSender {
    func connect() {
        connector.connect(on: eventLoop, sender: self).whenComplete { result in
            let connection = result.flatMap { channel in
                Result { try channel.pipeline.syncOperations.handler(type: HubConnection.self) }
            }
            switch connection {
            case .success(let connection) where connection.isActive: self.connected(connection)
            case .success: self.connectFailed(ChannelError.alreadyClosed)
            case .failure(let error): self.connectFailed(error)
            }
        }
    }

    private func connected(_ connection: HubConnection) {
        if connectFailures > 0 { logger.info("The hub can be reached again") }
        connectFailures = 0
        connections[ObjectIdentifier(connection)] = connection
        pool.connected(connection, now: .now())
        advance()
    }

    private func connectFailed(_ error: any Error) {
        connectFailures += 1
        if connectFailures == 1 {
            logger.warning("The hub cannot be reached", metadata: ["error": "\(ErrorText.describe(error))"])
        }
        // The reason has no other error's text: a TLS or socket error may hold addresses, which belong in the log.
        fail(pool.connectFailed(), (error as? ProxyError)?.reason ?? "no connection to the hub", .connection)
        advance()
    }

    /// A connection is closed. Its request, if it had one, has been completed already.
    func closed(_ connection: HubConnection) {
        guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
        pool.closed(connection)
        advance()
    }

    func connectionBroke(_ error: any Error) {
        logger.debug("A connection to the hub broke", metadata: ["error": "\(ErrorText.describe(error))"])
    }

    /// Completes requests of which nothing was written.
    private func fail(_ sends: [HubSend], _ reason: String, _ end: HubRequestEnd) {
        let now = NIODeadline.now()
        for send in sends { complete(send, .notSent(reason: reason), end, now: now) }
    }
}

/// Deadlines, idle connections and shutdown share one timer.
extension HubSender {
    /// The timer runs while there are requests or connections.
    func startTicking() {
        guard !isTicking, !pool.isEmpty else { return }
        isTicking = true
        eventLoop.scheduleTask(in: options.tick) { self.tick() }
    }

    private func tick() {
        isTicking = false
        let now = NIODeadline.now()
        fail(pool.takeExpired(now: now), "no connection was free in time", .timeout)
        for connection in connections.values.filter({ $0.current.map { $0.deadline <= now } ?? false }) {
            connection.fail("no answer in time", .timeout)
        }
        for connection in pool.takeIdle(since: now - options.idleTimeout) { connection.close() }
        pool.mayConnectAgain()
        if now >= drainDeadline { endNow() }
        advance()
    }

    /// Ends the requests in flight once the time to drain is over.
    func endIfDrained() {
        if NIODeadline.now() >= drainDeadline { endNow() }
    }

    private func endNow() {
        let reason = Self.stopping
        fail(pool.takeWaiting(), reason, .shutdown)
        for connection in Array(connections.values) { connection.fail(reason, .shutdown) }
        finishDraining()
    }

    func finishDrainingIfQuiet() {
        guard drainDeadline != .distantFuture, pool.isQuiet else { return }
        let idle = pool.takeIdle(since: .distantFuture)
        // When the last one has closed, this is called again.
        for connection in idle { connection.close() }
        if idle.isEmpty && pool.open == 0 { finishDraining() }
    }

    private func finishDraining() {
        let promise = drained
        drained = nil
        promise?.succeed()
    }
}
