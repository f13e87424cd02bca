package import ThreadExecutor

/// A connection for single commands, as `doctor`, the dead-letter commands and tests use it.
///
/// Each call waits for the broker's reply on the connection's own thread, at most `replyTimeout`. An error of the
/// broker about one command (403, 404, 405, 406) leaves the connection usable; after any other error ``isOpen`` is
/// false.
///
/// Decision: docs/decisions/0022-make-or-buy.md
package actor AMQPConnection: ThreadExecutor.Client {
    private let executor: ThreadExecutor
    private var link = BrokerLink()
    private var replyTimeout = Duration.zero

    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init() throws(AMQPError) {
        executor = try ThreadExecutor(connection: "amqp")
        executor.setClient(self)
    }

    deinit { executor.stop() }

    /// Connects to one of the nodes, runs `body`, and closes the connection.
    ///
    /// - Throws: ``AMQPError``, or the error that `body` throws.
    package static func with<Value: Sendable>(
        _ configuration: AMQPConfiguration, _ body: (AMQPConnection) async throws -> Value
    ) async throws -> Value {
        let connection = try await open(configuration)
        do {
            let value = try await body(connection)
            await connection.close()
            return value
        } catch {
            await connection.close()
            throw error
        }
    }

    /// Connects to the first node, in random order, that accepts the connection.
    ///
    /// - Parameter limits: how much ``get(queue:)`` holds of a message.
    /// - Throws: ``AMQPError``, with code `resources` if this process has no file descriptor or thread left.
    package static func open(
        _ configuration: AMQPConfiguration, limits: AMQPReceiveLimits = AMQPReceiveLimits()
    ) async throws(AMQPError) -> AMQPConnection {
        let connection = try AMQPConnection()
        try await connection.connect(configuration, limits)
        return connection
    }

    private func connect(_ configuration: AMQPConfiguration, _ limits: AMQPReceiveLimits) throws(AMQPError) {
        replyTimeout = configuration.replyTimeout
        var last = AMQPError(.notConnected, "the broker's URL names no node")
        for node in configuration.nodes.shuffled() {
            do {
                return link.opened(try Handle(node: node, configuration: configuration, limits: limits))
            } catch { last = error }
        }
        throw last
    }

    /// Whether the connection can be used.
    package var isOpen: Bool { link.handle != nil }

    /// Closes the connection; the broker requeues messages that were not acknowledged.
    package func close() {
        link.handle?.close()
        link.closed(closedError)
    }

    private var closedError: AMQPError { AMQPError(.notConnected, "the connection is closed") }

    /// Declares exchanges, queues and bindings, or asks for them where ``AMQPTopology/isDeclared`` is false.
    ///
    /// - Throws: ``AMQPError``: `notFound`, or `preconditionFailed` for one that exists with other settings.
    package func declare(_ topology: AMQPTopology) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.declare(topology) }
    }

    /// The number of messages and consumers of a queue, by a passive declaration.
    ///
    /// - Throws: ``AMQPError`` with code `notFound` if there is no such queue.
    package func inspect(queue: String) throws(AMQPError) -> AMQPQueueStatus {
        try use { handle throws(AMQPError) in try handle.inspect(queue: queue) }
    }

    /// Checks that a queue has a leader. Takes no message and changes nothing.
    ///
    /// - Throws: ``AMQPError`` with code `queueUnavailable` if a quorum queue has no leader within `replyTimeout`; the
    ///   connection cannot be used any more then.
    package func expectLeader(of queue: String) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.expectLeader(of: queue) }
    }

    /// Removes a binding. Succeeds if there is no such binding.
    package func unbind(_ binding: AMQPTopology.Binding) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.unbind(binding) }
    }

    /// Whether this user may publish to an exchange. Publishes no message to it, and changes nothing.
    ///
    /// - Parameter exchange: the name; empty for the default exchange.
    /// - Throws: ``AMQPError`` if the broker does not answer.
    package func mayPublish(to exchange: String) throws(AMQPError) -> Bool {
        do throws(AMQPError) {
            try use { handle throws(AMQPError) in try handle.tryPublishing(to: exchange) }
            return true
        } catch {
            if error.code == .notFound { return true }
            guard error.code == .accessRefused, isOpen else { throw error }
            // The broker refuses the first of two names that the user has no right for, and tells it.
            return !error.message.contains("exchange '\(exchange.isEmpty ? "amq.default" : exchange)'")
        }
    }

    /// Deletes a queue with its messages. Succeeds if there is no such queue.
    package func delete(queue: String) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.delete(queue: queue) }
    }

    /// Deletes an exchange. Succeeds if there is no such exchange.
    package func delete(exchange: String) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.delete(exchange: exchange) }
    }

    /// Drops all ready messages of a queue.
    ///
    /// - Returns: how many messages there were.
    package func purge(queue: String) throws(AMQPError) -> Int {
        try use { handle throws(AMQPError) in try handle.purge(queue: queue) }
    }

    /// Takes one message (`basic.get`), to be settled by ``acknowledge(_:)`` or ``requeue(_:)``; `nil` if the queue is
    /// empty.
    package func get(queue: String) throws(AMQPError) -> AMQPDelivery? {
        let timeout = replyTimeout
        return try use { handle throws(AMQPError) in try handle.get(queue: queue, replyTimeout: timeout) }
    }

    /// Removes a delivered message from its queue (`basic.ack`).
    package func acknowledge(_ delivery: AMQPDelivery) throws(AMQPError) {
        try use(isAnswered: false) { handle throws(AMQPError) in try handle.acknowledge(delivery.tag, isMultiple: false)
        }
    }

    /// Returns a delivered message to its queue (`basic.nack` with requeue).
    package func requeue(_ delivery: AMQPDelivery) throws(AMQPError) {
        try use(isAnswered: false) { handle throws(AMQPError) in try handle.requeue(delivery.tag) }
    }

    /// - Parameter isAnswered: whether `body` waits for the broker's reply.
    private func use<Value>(
        isAnswered: Bool = true, _ body: (Handle) throws(AMQPError) -> Value
    ) throws(AMQPError) -> Value {
        guard let handle = link.handle else { throw closedError }
        do {
            let value = try body(handle)
            // Calls read heartbeats together with their replies, so the thread sees none while calls follow each other.
            if isAnswered { link.answered(.now) }
            return value
        } catch {
            do throws(AMQPError) {
                // Soft errors close the channel only (AMQP 0-9-1, section 1.1).
                guard [403, 404, 405, 406].contains(error.replyCode) else { throw error }
                try handle.reopenChannel()
            } catch { link.closed(error) }
            throw error
        }
    }
}

extension AMQPConnection {
    /// For the thread: the events and the time that end its next wait.
    package nonisolated func prepareToWait() -> ThreadExecutor.Interest {
        assumeIsolated { $0.link.interest() }
    }

    /// For the thread: reads the frames that have arrived, and checks heartbeats.
    package nonisolated func waitEnded(readable: Bool, writable: Bool) {
        assumeIsolated { $0.serve(readable: readable) }
    }

    /// Sends and checks heartbeats, and notices when the broker closes the connection.
    private func serve(readable: Bool) {
        let now = ContinuousClock.now
        guard let handle = link.handleToServe(readable: readable, now: now) else { return }
        do throws(AMQPError) {
            link.hasMoreToRead = try handle.readEvents { event throws(AMQPError) in
                if case .closed(let error) = event { throw error }
            }
            try link.checkHeartbeat(now)
        } catch { link.closed(error) }
    }
}

extension ThreadExecutor {
    /// Starts the thread of a connection to the broker.
    ///
    /// - Throws: ``AMQPError`` with code `resources`.
    convenience init(connection name: String) throws(AMQPError) {
        do {
            try self.init(name: name)
        } catch {
            throw AMQPError(.resources, "\(error)")
        }
    }
}
