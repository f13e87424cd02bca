import ThreadExecutor

/// The publisher's connection, on its own thread: all publishes that wait leave as one group of frames.
actor PublisherConnection: ThreadExecutor.Client, BrokerSession {
    typealias Results = [Result<Void, AMQPError>]

    /// Messages written before what has arrived is read.
    private static let groupLimit = 1024
    /// Messages, and bytes, written between looks at whether the socket takes more.
    private static let stride = (messages: 32, bytes: 16_384)

    private let executor: ThreadExecutor
    private let configuration: AMQPConfiguration
    private let topology: AMQPTopology
    private let publishTimeout: Duration
    private let inFlightLimit: Int
    private var machine: PublisherStateMachine<CheckedContinuation<Results, Never>>
    private var handle: Handle?
    private var heartbeat = HeartbeatMonitor(heartbeat: nil, now: .now)
    private var blockedReason: String?
    private var patience = NackBackoff()
    private var waitsForRoom = false
    private var hasMoreToRead = false
    private(set) var isShuttingDown = false
    private var disconnectWaiter: CheckedContinuation<AMQPError, Never>?
    private var idleWaiter: CheckedContinuation<Void, Never>?
    private var lastError = AMQPError(.notConnected, "not connected to the broker")
    /// Whether a connection is open.
    nonisolated let connected = ConnectionFlag()
    /// Why none is.
    nonisolated let problem = ConnectionProblem()
    /// Whether the broker has said that it takes no messages.
    nonisolated let blocked = ConnectionFlag()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        configuration: AMQPConfiguration, topology: AMQPTopology, publishTimeout: Duration, inFlightLimit: Int
    ) throws(AMQPError) {
        executor = try ThreadExecutor(connection: "amqp-publisher")
        self.configuration = configuration
        self.topology = topology
        self.publishTimeout = publishTimeout
        self.inFlightLimit = inFlightLimit
        machine = PublisherStateMachine(limit: inFlightLimit)
        executor.setClient(self)
    }

    deinit { executor.stop() }

    func publish(_ messages: [AMQPMessage]) async -> Results {
        guard handle != nil, !isShuttingDown else { return messages.map { _ in .failure(lastError) } }
        return await withCheckedContinuation { continuation in
            let refused = machine.submit(messages, waiter: continuation, deadline: .now + publishTimeout)
            if let refused { continuation.resume(returning: refused.results) }
        }
    }

    func connect(to node: AMQPConfiguration.Node) throws(AMQPError) {
        guard !isShuttingDown else { throw AMQPError(.notConnected, "shutting down") }
        do {
            let handle = try Handle(node: node, configuration: configuration)
            try handle.declare(topology)
            try handle.selectConfirms()
            heartbeat = HeartbeatMonitor(heartbeat: handle.heartbeat, now: .now)
            hasMoreToRead = true
            self.handle = handle
        } catch {
            lastError = AMQPError(.notConnected, error.message, replyCode: error.replyCode, status: error.status)
            problem.set(error)
            throw error
        }
        connected.set(true)
    }

    func untilDisconnected() async -> AMQPError {
        guard handle != nil else { return lastError }
        return await withCheckedContinuation { disconnectWaiter = $0 }
    }

    /// Takes no more, and waits for the confirms of what was taken; the publish deadline bounds it.
    func shutDown() async {
        isShuttingDown = true
        connected.set(false)
        lastError = AMQPError(.notConnected, "shutting down")
        if handle != nil, !machine.isIdle {
            await withCheckedContinuation { idleWaiter = $0 }
        }
        handle?.close()
        disconnect(lastError)
    }

    private func disconnect(_ error: AMQPError) {
        handle = nil
        problem.set(error)
        connected.set(false)
        blocked.set(false)
        blockedReason = nil
        if !isShuttingDown { lastError = AMQPError(.notConnected, error.message) }
        let lost = AMQPError(.connectionLost, error.message, replyCode: error.replyCode, status: error.status)
        complete(machine.disconnected(lost))
        disconnectWaiter?.resume(returning: error)
        disconnectWaiter = nil
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
        waitsForRoom = false
        if let handle, blockedReason == nil, machine.canWrite { writeGroup(handle) }
        resumeIdleWaiter()
        guard let handle else { return ThreadExecutor.Interest(deadline: machine.nextDeadline()) }
        var deadline = min(heartbeat.deadline, machine.nextDeadline() ?? heartbeat.deadline)
        let writesOn = machine.canWrite && blockedReason == nil && !waitsForRoom
        if writesOn || hasMoreToRead { deadline = .now }
        return ThreadExecutor.Interest(
            descriptor: handle.descriptor, untilWritable: waitsForRoom, deadline: deadline)
    }

    private func writeGroup(_ handle: Handle) {
        do {
            if machine.waiting == 1 {
                try write(upTo: 1, to: handle)
            } else {
                let limit = PublisherConnection.groupLimit
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
                // A broker with an alarm does not read: without this look, the next write would block the thread.
                guard handle.isWritable else {
                    waitsForRoom = true
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
        if let handle, readable || hasMoreToRead || heartbeat.isDue(now) {
            do throws(AMQPError) {
                if readable { heartbeat.heard(now) }
                try read(handle)
                if heartbeat.isDead(now) { throw heartbeat.silence }
            } catch { disconnect(error) }
        }
        complete(machine.expire(now: now, overdue))
        giveUpWhatIsStuck(now)
        resumeIdleWaiter()
    }

    private var overdue: AMQPError {
        if let blockedReason { return AMQPError(.blocked, "the broker takes no messages: \(blockedReason)") }
        return AMQPError(.timeout, "the broker did not confirm in time")
    }

    private func giveUpWhatIsStuck(_ now: ContinuousClock.Instant) {
        guard handle != nil, blockedReason == nil, !isShuttingDown else { return }
        if let message = machine.stuckMessage {
            disconnect(stuck(message))
        } else if !machine.refusedSince.isEmpty, let key = machine.keyRefused(for: patience.current(now), now: now) {
            patience.exceeded(now)
            disconnect(AMQPError(.nacked, "the broker refuses all messages to \(key) (basic.nack)"))
        }
    }

    /// A queue that never confirms (it has no leader) would keep all others from being published to, for tags are
    /// counted from the oldest that is in flight. A new connection begins with none.
    private func stuck(_ message: AMQPMessage) -> AMQPError {
        let target = message.exchange.isEmpty ? message.routingKey : "\(message.exchange)/\(message.routingKey)"
        return AMQPError(
            .queueUnavailable,
            "the broker does not confirm what is published to \(target); \(AMQPError.leaderlessAdvice)")
    }

    private func read(_ handle: Handle) throws(AMQPError) {
        hasMoreToRead = false
        var count = 0
        while let event = try handle.nextEvent() {
            switch event {
            case .confirmed(let tag, let isMultiple, let isRefusal):
                complete(machine.confirmed(tag: tag, isMultiple: isMultiple, isRefusal: isRefusal))
            case .returned(let message, let reason): machine.returned(message, reason: reason)
            case .blocked(let reason): setBlocked(reason.isEmpty ? "an alarm" : reason)
            case .unblocked: setBlocked(nil)
            case .closed(let error): throw error
            case .delivered, .consumerCancelled: break
            }
            count += 1
            // What the library holds already does not make the socket readable again.
            if count == PublisherConnection.groupLimit {
                hasMoreToRead = true
                return
            }
        }
    }

    private func setBlocked(_ reason: String?) {
        blockedReason = reason
        blocked.set(reason != nil)
    }

    private func resumeIdleWaiter() {
        guard let idleWaiter, machine.isIdle || handle == nil || !hasOpenBatches else { return }
        self.idleWaiter = nil
        idleWaiter.resume()
    }

    /// Whether anyone waits: batches that ran out of time may stay in flight without a waiter.
    private var hasOpenBatches: Bool { machine.nextDeadline() != nil }
}

/// How long a publisher bears that all messages to a queue are refused, before it tries a new connection.
///
/// RabbitMQ looks up a quorum queue's leader once for each channel. A channel that was opened just after the leader's
/// node died keeps to the dead node, and refuses every message (`basic.nack`) until that node is back; a new one finds
/// the new leader. A queue that is full refuses too, and there a new connection is of no use: hence the growing time.
struct NackBackoff {
    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(30)
    /// What is borne now.
    private(set) var limit = shortest
    private var lastEnd: ContinuousClock.Instant?

    /// It was exceeded, and the connection is given up.
    mutating func exceeded(_ now: ContinuousClock.Instant) {
        let wasLongAgo = lastEnd.map { now - $0 > NackBackoff.longest * 2 } ?? true
        limit = wasLongAgo ? NackBackoff.shortest * 2 : min(limit * 2, NackBackoff.longest)
        lastEnd = now
    }

    /// A minute without such an end is a new beginning.
    mutating func current(_ now: ContinuousClock.Instant) -> Duration {
        if let lastEnd, now - lastEnd > NackBackoff.longest * 2 { limit = NackBackoff.shortest }
        return limit
    }
}
