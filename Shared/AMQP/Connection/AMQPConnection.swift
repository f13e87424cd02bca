public import ThreadExecutor

/// A connection for questions and single commands: what `doctor`, the dead-letter commands and tests need.
///
/// Each call waits for the broker's answer, `replyTimeout` at most, on the connection's own thread. An error of the
/// broker about one command (404, 405, 406) leaves the connection usable; after others ``isOpen`` is false.
public actor AMQPConnection: ThreadExecutor.Client {
    private let executor: ThreadExecutor
    private var handle: Handle?
    private var replyTimeout = Duration.zero
    private var heartbeat = HeartbeatMonitor(heartbeat: nil, now: .now)

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init() throws(AMQPError) {
        executor = try ThreadExecutor(connection: "amqp")
        executor.setClient(self)
    }

    deinit { executor.stop() }

    /// Connects to one of the nodes, runs `body`, and closes.
    public static func with<Value: Sendable>(
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

    /// Connects to the first of the nodes, in random order, that will have it.
    ///
    /// - Parameter limits: how much is held of a message that ``get(queue:)`` takes.
    /// - Throws: ``AMQPError``, with code `resources` where this process has no descriptor or thread left.
    public static func open(
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
                let handle = try Handle(node: node, configuration: configuration, limits: limits)
                heartbeat = HeartbeatMonitor(heartbeat: handle.heartbeat, now: .now)
                self.handle = handle
                return
            } catch { last = error }
        }
        throw last
    }

    public var isOpen: Bool { handle != nil }

    /// Says goodbye to the broker, which takes back what was not acknowledged.
    public func close() {
        handle?.close()
        handle = nil
    }

    public func declare(_ topology: AMQPTopology) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.declare(topology) }
    }

    /// How many messages and consumers a queue has, by a passive declaration.
    public func inspect(queue: String) throws(AMQPError) -> AMQPQueueStatus {
        try use { handle throws(AMQPError) in try handle.inspect(queue: queue) }
    }

    /// Throws ``AMQPError/Code/queueUnavailable`` where a quorum queue has no leader within `replyTimeout`; the
    /// connection is of no more use then. Takes no message and changes nothing.
    public func expectLeader(of queue: String) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.expectLeader(of: queue) }
    }

    public func delete(queue: String) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.delete(queue: queue) }
    }

    public func delete(exchange: String) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.delete(exchange: exchange) }
    }

    /// Drops all messages that are ready, and tells how many there were.
    public func purge(queue: String) throws(AMQPError) -> Int {
        try use { handle throws(AMQPError) in try handle.purge(queue: queue) }
    }

    /// Takes one message, to be settled by ``acknowledge(_:)`` or ``requeue(_:)``; `nil` when there is none.
    public func get(queue: String) throws(AMQPError) -> AMQPDelivery? {
        let timeout = replyTimeout
        return try use { handle throws(AMQPError) in try handle.get(queue: queue, replyTimeout: timeout) }
    }

    public func acknowledge(_ delivery: AMQPDelivery) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.acknowledge(delivery.tag, isMultiple: false) }
    }

    public func requeue(_ delivery: AMQPDelivery) throws(AMQPError) {
        try use { handle throws(AMQPError) in try handle.requeue(delivery.tag) }
    }

    private func use<Value>(_ body: (Handle) throws(AMQPError) -> Value) throws(AMQPError) -> Value {
        guard let handle else { throw AMQPError(.notConnected, "the connection is closed") }
        do {
            return try body(handle)
        } catch {
            do throws(AMQPError) {
                // Soft errors close the channel only (AMQP 0-9-1, section 1.1).
                guard [403, 404, 405, 406].contains(error.replyCode) else { throw error }
                try handle.reopenChannel()
            } catch { self.handle = nil }
            throw error
        }
    }
}

extension AMQPConnection {
    public nonisolated func prepareToWait() -> ThreadExecutor.Interest {
        assumeIsolated { connection in
            guard let handle = connection.handle else { return ThreadExecutor.Interest() }
            return ThreadExecutor.Interest(descriptor: handle.descriptor, deadline: connection.heartbeat.deadline)
        }
    }

    public nonisolated func waitEnded(readable: Bool, writable: Bool) {
        assumeIsolated { $0.serve(readable: readable) }
    }

    /// Sends and checks heartbeats, and notices the broker's goodbye.
    private func serve(readable: Bool) {
        let now = ContinuousClock.now
        guard let handle, readable || heartbeat.isDue(now) else { return }
        do throws(AMQPError) {
            if readable { heartbeat.heard(now) }
            while let event = try handle.nextEvent() {
                if case .closed(let error) = event { throw error }
            }
            if heartbeat.isDead(now) { throw heartbeat.silence }
        } catch { self.handle = nil }
    }
}

extension ThreadExecutor {
    /// The thread of a connection to the broker.
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
