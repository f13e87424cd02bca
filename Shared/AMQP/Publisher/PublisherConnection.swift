import ThreadExecutor

/// The publisher's connection, on its own thread. Waiting publishes are written as one group of frames.
actor PublisherConnection: ThreadExecutor.Client, BrokerSession {
    typealias Results = [Result<Void, AMQPError>]

    /// The number of messages that are written before the thread reads confirmations.
    private static let maxGroup = 1024
    /// Messages and bytes written between checks whether the socket accepts more.
    private static let stride = (messages: 32, bytes: 16_384)

    nonisolated let executor: ThreadExecutor
    private let configuration: AMQPConfiguration
    private let topology: AMQPTopology
    private let publishTimeout: Duration
    private var machine: PublisherStateMachine<CheckedContinuation<Results, Never>>
    var link = BrokerLink()
    private var blockedReason: String?
    /// How long all messages to a queue may be refused before a new connection is tried.
    ///
    /// RabbitMQ looks up a quorum queue's leader once per channel. A channel that was opened just after the leader's
    /// node died keeps using the dead node, and refuses every message (`basic.nack`) until that node is back; a new
    /// channel finds the new leader. A full queue refuses too, and a new connection does not help there, so the time
    /// grows.
    private var patience = GrowingTime()
    /// Between declarations of exchanges, queues and bindings while messages are returned, in case one does not help.
    private var declaration = GrowingTime()
    /// The node of the last connection.
    private var node: AMQPConfiguration.Node?
    /// Whether the socket accepts no more for now.
    private var isSocketFull = false
    private(set) var isShuttingDown = false
    private var idleWaiter: CheckedContinuation<Void, Never>?
    nonisolated let status: LinkStatus

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        configuration: AMQPConfiguration, topology: AMQPTopology, publishTimeout: Duration, inFlightLimit: Int
    ) throws(AMQPError) {
        executor = try ThreadExecutor(connection: "amqp-publisher")
        self.configuration = configuration
        self.topology = topology
        self.publishTimeout = publishTimeout
        machine = PublisherStateMachine(limit: inFlightLimit)
        status = link.status
        executor.setClient(self)
    }

    deinit { executor.stop() }

    func publish(_ messages: [AMQPMessage]) async -> Results {
        await withCheckedContinuation { continuation in
            guard link.handle != nil, !isShuttingDown else {
                let error = AMQPError(.notConnected, isShuttingDown ? "shutting down" : link.lastError.message)
                return continuation.resume(returning: messages.map { _ in .failure(error) })
            }
            let refused = machine.submit(messages, waiter: continuation, deadline: .now + publishTimeout)
            if let refused { continuation.resume(returning: refused.results) }
        }
    }

    func open(_ node: AMQPConfiguration.Node) throws(AMQPError) {
        let handle = try Handle(node: node, configuration: configuration)
        try handle.declare(topology)
        try handle.selectConfirms()
        self.node = node
        link.opened(handle)
    }

    /// Refuses new messages, and waits for the confirms of those that were accepted, at most until their deadline.
    func shutDown() async {
        isShuttingDown = true
        status.isConnected = false
        if link.handle != nil, !machine.isIdle {
            await withCheckedContinuation { idleWaiter = $0 }
        }
        link.handle?.close()
        disconnect(AMQPError(.notConnected, "shutting down"))
    }

    private func disconnect(_ error: AMQPError) {
        blockedReason = nil
        let lost = AMQPError(.connectionLost, error.message, replyCode: error.replyCode, status: error.status)
        complete(machine.disconnected(lost))
        link.closed(error)
    }

    private func complete(_ completions: [PublisherStateMachine<CheckedContinuation<Results, Never>>.Completion]) {
        for completion in completions { completion.waiter.resume(returning: completion.results) }
    }
}

extension PublisherConnection {
    nonisolated func prepareToWait() -> ThreadExecutor.Interest {
        assumeIsolated { $0.writeWaiting() }
    }

    nonisolated func waitEnded(readable: Bool, writable: Bool) {
        assumeIsolated { $0.serve(readable: readable) }
    }

    private func writeWaiting() -> ThreadExecutor.Interest {
        isSocketFull = false
        if let handle = link.handle, blockedReason == nil, machine.canWrite { writeGroup(handle) }
        resumeIdleWaiter()
        let deadline = [
            machine.nextDeadline(), machine.nextForgetting, isMissingSomething ? declaration.due : nil,
        ].compactMap(\.self).min()
        guard link.handle != nil else { return ThreadExecutor.Interest(deadline: deadline) }
        let canWriteMore = machine.canWrite && blockedReason == nil && !isSocketFull
        return link.interest(deadline: deadline, untilWritable: isSocketFull, isReady: canWriteMore)
    }

    private func writeGroup(_ handle: Handle) {
        do {
            if machine.waiting == 1 {
                try write(upTo: 1, to: handle)
            } else {
                let limit = PublisherConnection.maxGroup
                try handle.corked { () throws(AMQPError) in try write(upTo: limit, to: handle) }
            }
        } catch { disconnect(error) }
    }

    private func write(upTo limit: Int, to handle: Handle) throws(AMQPError) {
        var (written, messages, bytes) = (0, 0, 0)
        while written < limit {
            if messages == 0 || messages == PublisherConnection.stride.messages
                || bytes >= PublisherConnection.stride.bytes
            {
                // A broker with an alarm does not read: without this check, the next write would block the thread.
                guard handle.isWritable else {
                    isSocketFull = true
                    return
                }
                (messages, bytes) = (0, 0)
            }
            guard let message = machine.nextToWrite() else { return }
            try handle.publish(message)
            written += 1
            messages += 1
            bytes += message.body.count
        }
    }

    private func serve(readable: Bool) {
        let now = ContinuousClock.now
        if let handle = link.handleToServe(readable: readable, now: now) {
            do throws(AMQPError) {
                try read(handle)
                try link.checkHeartbeat(now)
            } catch { disconnect(error) }
        }
        complete(machine.expire(now: now, overdue))
        reconnectIfStuck(now)
        declareIfMissing(now)
        resumeIdleWaiter()
    }

    private var overdue: AMQPError {
        if let blockedReason { return AMQPError(.blocked, "the broker accepts no messages: \(blockedReason)") }
        return AMQPError(.timeout, "the broker did not confirm in time")
    }

    /// Ends a connection that confirms nothing, or refuses everything: a new one may help.
    private func reconnectIfStuck(_ now: ContinuousClock.Instant) {
        guard link.handle != nil, blockedReason == nil, !isShuttingDown else { return }
        if let message = machine.stuckMessage {
            disconnect(stuck(message))
        } else if !machine.refusedSince.isEmpty, let key = machine.keyRefused(for: patience.current(now), now: now) {
            patience.used(now)
            disconnect(AMQPError(.nacked, "the broker refuses all messages to \(key) (basic.nack)"))
        }
    }

    /// A queue that never confirms (it has no leader) would block publishes to all other queues, because the window is
    /// counted from the oldest message in flight. A new connection begins with an empty window.
    private func stuck(_ message: AMQPMessage) -> AMQPError {
        let target = message.exchange.isEmpty ? message.routingKey : "\(message.exchange)/\(message.routingKey)"
        return AMQPError(
            .queueUnavailable,
            "the broker does not confirm messages to \(target); \(AMQPError.leaderlessAdvice)")
    }

    /// Whether messages are returned that a declaration may help.
    private var isMissingSomething: Bool {
        link.handle != nil && blockedReason == nil && topology.isDeclared && !machine.unroutable.isEmpty
            && !isShuttingDown
    }

    /// For a connection that only declares. The thread waits for it.
    private var declaring: AMQPConfiguration {
        var configuration = configuration
        (configuration.connectTimeout, configuration.replyTimeout) = (.seconds(1), .seconds(2))
        configuration.connectionName += " (declares)"
        return configuration
    }

    /// Declares exchanges, queues and bindings again after messages were returned: somebody has removed one of them.
    ///
    /// On a separate connection, because a refusal (a right that was revoked, an argument that differs) would end this
    /// one, and with it the messages to all other queues.
    private func declareIfMissing(_ now: ContinuousClock.Instant) {
        machine.forgetReturns(now: now)
        if isMissingSomething, declaration.isDue(now), let node {
            do throws(AMQPError) {
                let handle = try Handle(node: node, configuration: declaring)
                defer { handle.close() }
                try handle.declare(topology)
                machine.unroutable = [:]
            } catch {
                // The reason of the return stays, and the next try follows later.
            }
        }
        if machine.unroutable.isEmpty != (status.unroutable == nil) {
            status.unroutable = machine.unroutable.keys.first.map(topology.reasonForReturn)
        }
    }

    private func read(_ handle: Handle) throws(AMQPError) {
        link.hasMoreToRead = try handle.readEvents { event throws(AMQPError) in
            switch event {
            case .confirmed(let tag, let isMultiple, let isRefusal):
                complete(machine.confirmed(tag: tag, isMultiple: isMultiple, isRefusal: isRefusal))
            case .returned(let message, let reason): machine.returned(message, reason: reason)
            case .blocked(let reason): setBlocked(reason.isEmpty ? "an alarm" : reason)
            case .unblocked: setBlocked(nil)
            case .closed(let error): throw error
            case .delivered, .consumerCancelled: break
            }
        }
    }

    private func setBlocked(_ reason: String?) {
        blockedReason = reason
        status.isBlocked = reason != nil
    }

    private func resumeIdleWaiter() {
        guard let idleWaiter, machine.isIdle || link.handle == nil || !hasOpenBatches else { return }
        self.idleWaiter = nil
        idleWaiter.resume()
    }

    /// Whether a caller waits. Batches that ran out of time may stay in flight without a waiter.
    private var hasOpenBatches: Bool { machine.nextDeadline() != nil }
}

/// A time that doubles with each use, from 1 to 30 s, and is the shortest again a minute after the last use.
struct GrowingTime {
    private static let range = Duration.seconds(1) ... .seconds(30)

    private var next = range.lowerBound
    private var lastUse: ContinuousClock.Instant?
    /// When ``isDue(_:)`` is true the next time; `nil` for at once.
    private(set) var due: ContinuousClock.Instant?

    func current(_ now: ContinuousClock.Instant) -> Duration {
        guard let lastUse, now - lastUse <= Self.range.upperBound * 2 else { return Self.range.lowerBound }
        return next
    }

    mutating func used(_ now: ContinuousClock.Instant) {
        next = min(current(now) * 2, Self.range.upperBound)
        lastUse = now
    }

    /// Whether the time since this was true is over; if so, the next one begins.
    mutating func isDue(_ now: ContinuousClock.Instant) -> Bool {
        if let due, now < due { return false }
        due = now + current(now)
        used(now)
        return true
    }
}

extension AMQPTopology {
    /// Why messages to an address are returned, for an operator.
    fileprivate func reasonForReturn<Waiter>(_ address: PublisherStateMachine<Waiter>.Address) -> String {
        reasonForReturn(exchange: address.exchange, routingKey: address.routingKey)
    }
}
