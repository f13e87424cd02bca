import DequeModule
import ThreadExecutor

/// The consumer's connection, on its own thread: acknowledgements that wait leave as one group of frames.
actor ConsumerConnection: ThreadExecutor.Client, BrokerSession {
    private struct Waiter {
        var id: UInt64
        var limit: Int
        var continuation: CheckedContinuation<[AMQPDelivery]?, Never>
    }

    /// Deliveries read before what waits is written and handed out.
    private static let groupLimit = 1024
    private static let consumerTag = "consumer"

    private let executor: ThreadExecutor
    private let configuration: AMQPConfiguration
    private let topology: AMQPTopology
    private let queue: String
    private let prefetch: Int
    private let limits: AMQPReceiveLimits
    private let drainTimeout: Duration
    private var handle: Handle?
    private var epoch: UInt64 = 0
    private var acks = AckStateMachine()
    private var buffer: Deque<AMQPDelivery> = []
    private var waiters: Deque<Waiter> = []
    private var lastWaiterID: UInt64 = 0
    private var heartbeat = HeartbeatMonitor(heartbeat: nil, now: .now)
    private var moves = MoveStateMachine()
    private var pendingMoves: Deque<SettlementMailbox.Move> = []
    private var pendingFrames: Deque<AckStateMachine.Frame> = []
    private var hasMoreToRead = false
    private(set) var isShuttingDown = false
    private var drainDeadline: ContinuousClock.Instant?
    private var drainWaiter: CheckedContinuation<Void, Never>?
    private var disconnectWaiter: CheckedContinuation<AMQPError, Never>?
    private var lastError = AMQPError(.notConnected, "not connected to the broker")
    nonisolated let connected = ConnectionFlag()
    /// Why nothing arrives.
    nonisolated let problem = ConnectionProblem()
    private nonisolated let mailbox = SettlementMailbox()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        configuration: AMQPConfiguration, topology: AMQPTopology, queue: String, prefetch: Int,
        limits: AMQPReceiveLimits = AMQPReceiveLimits(), drainTimeout: Duration
    ) throws(AMQPError) {
        executor = try ThreadExecutor(connection: "amqp-consumer")
        self.configuration = configuration
        self.topology = topology
        self.queue = queue
        self.prefetch = prefetch
        self.limits = limits
        self.drainTimeout = drainTimeout
        executor.setClient(self)
    }

    deinit { executor.stop() }

    func next(limit: Int) async -> [AMQPDelivery]? {
        lastWaiterID += 1
        let id = lastWaiterID
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                if Task.isCancelled || isShuttingDown {
                    continuation.resume(returning: nil)
                } else {
                    waiters.append(Waiter(id: id, limit: max(1, limit), continuation: continuation))
                    handOut()
                }
            }
        } onCancel: {
            if mailbox.put({ $0.cancelled.append(id) }) { executor.wake() }
        }
    }

    /// Leaves a delivery to be moved for the thread.
    nonisolated func move(_ move: SettlementMailbox.Move) {
        if mailbox.put({ $0.moves.append(move) }) { executor.wake() }
    }

    /// Leaves settlements for the thread; those of earlier epochs are dropped there.
    nonisolated func settle(_ letters: [SettlementMailbox.Letter]) {
        guard !letters.isEmpty else { return }
        if mailbox.put({ $0.letters.append(contentsOf: letters) }) { executor.wake() }
    }

    func connect(to node: AMQPConfiguration.Node) throws(AMQPError) {
        guard !isShuttingDown else { throw AMQPError(.notConnected, "shutting down") }
        let handle = try open(node)
        epoch += 1
        heartbeat = HeartbeatMonitor(heartbeat: handle.heartbeat, now: .now)
        // Deliveries may have come in with the reply.
        hasMoreToRead = true
        self.handle = handle
        connected.set(true)
    }

    private func open(_ node: AMQPConfiguration.Node) throws(AMQPError) -> Handle {
        do {
            let handle = try Handle(node: node, configuration: configuration, limits: limits)
            try handle.declare(topology)
            try handle.selectConfirms()
            try handle.consume(queue: queue, prefetch: prefetch, tag: ConsumerConnection.consumerTag)
            // A quorum queue without a leader is said to be consumed at once, and gives nothing for a minute. The
            // broker answers this only once it is.
            _ = try handle.inspect(queue: queue)
            return handle
        } catch {
            problem.set(error)
            throw error
        }
    }

    func untilDisconnected() async -> AMQPError {
        guard handle != nil else { return lastError }
        return await withCheckedContinuation { disconnectWaiter = $0 }
    }

    /// Cancels the consumer, gives back what nobody took, and waits for the settlement of what was taken.
    func shutDown() async {
        isShuttingDown = true
        connected.set(false)
        cancelConsumer()
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
        waiters.removeAll()
        if handle != nil {
            drainDeadline = .now + drainTimeout
            await withCheckedContinuation { drainWaiter = $0 }
        }
        handle?.close()
        disconnect(AMQPError(.notConnected, "shutting down"))
    }

    private func cancelConsumer() {
        guard let handle else { return }
        do {
            try handle.cancelConsumer(tag: ConsumerConnection.consumerTag)
            repeat { try read(handle) } while hasMoreToRead
            for delivery in buffer { acks.requeue(delivery.tag) }
            buffer.removeAll()
        } catch { disconnect(error) }
    }

    private func disconnect(_ error: AMQPError) {
        handle = nil
        problem.set(error)
        connected.set(false)
        lastError = error
        // The broker delivers again what was not settled.
        acks = AckStateMachine()
        pendingFrames.removeAll()
        moves = MoveStateMachine()
        pendingMoves.removeAll()
        buffer.removeAll()
        disconnectWaiter?.resume(returning: error)
        disconnectWaiter = nil
    }

    private func handOut() {
        while !buffer.isEmpty, let waiter = waiters.popFirst() {
            let count = min(waiter.limit, buffer.count)
            let deliveries = Array(buffer.prefix(count))
            buffer.removeFirst(count)
            waiter.continuation.resume(returning: deliveries)
        }
    }
}

extension ConsumerConnection {
    nonisolated func prepareToWait() -> ThreadExecutor.Interest {
        assumeIsolated { $0.writeSettlements() }
    }

    nonisolated func waitEnded(readable: Bool, writable: Bool) {
        assumeIsolated { $0.serve(readable: readable) }
    }

    private func writeSettlements() -> ThreadExecutor.Interest {
        takeMail()
        if let handle {
            pendingFrames.append(contentsOf: acks.frames())
            do throws(AMQPError) {
                if hasSomethingToWrite { try writeFrames(handle) }
            } catch { disconnect(error) }
        }
        resumeDrainWaiter()
        guard let handle else { return ThreadExecutor.Interest() }
        var deadline = min(heartbeat.deadline, drainDeadline ?? heartbeat.deadline)
        if hasMoreToRead { deadline = .now }
        return ThreadExecutor.Interest(
            descriptor: handle.descriptor, untilWritable: hasSomethingToWrite, deadline: deadline)
    }

    private var hasSomethingToWrite: Bool { !pendingFrames.isEmpty || !pendingMoves.isEmpty }

    private func takeMail() {
        let mail = mailbox.takeAll()
        for letter in mail.letters where letter.epoch == epoch && handle != nil {
            switch letter.kind {
            case .acknowledge: acks.acknowledge(letter.tag)
            case .requeue: acks.requeue(letter.tag)
            case .reject: acks.reject(letter.tag)
            }
        }
        if handle != nil { pendingMoves.append(contentsOf: mail.moves.filter { $0.epoch == epoch }) }
        for id in mail.cancelled {
            guard let index = waiters.firstIndex(where: { $0.id == id }) else { continue }
            waiters.remove(at: index).continuation.resume(returning: nil)
        }
    }

    private func writeFrames(_ handle: Handle) throws(AMQPError) {
        guard pendingFrames.count + pendingMoves.count > 1 else { return try writeSome(handle) }
        try handle.corked { () throws(AMQPError) in try writeSome(handle) }
    }

    private func writeSome(_ handle: Handle) throws(AMQPError) {
        var count = 0
        while let frame = pendingFrames.first {
            if count & 127 == 0, !handle.isWritable { return }
            switch frame {
            case .acknowledge(let tag, let isMultiple): try handle.acknowledge(tag, isMultiple: isMultiple)
            case .requeue(let tag): try handle.requeue(tag)
            case .reject(let tag): try handle.reject(tag)
            }
            pendingFrames.removeFirst()
            count += 1
        }
        while let move = pendingMoves.first, handle.isWritable {
            moves.publishing(move.message, of: move.tag)
            try handle.publish(move.message)
            pendingMoves.removeFirst()
        }
    }

    private func serve(readable: Bool) {
        let now = ContinuousClock.now
        guard let handle, readable || hasMoreToRead || heartbeat.isDue(now) else { return }
        do throws(AMQPError) {
            if readable { heartbeat.heard(now) }
            try read(handle)
            if heartbeat.isDead(now) { throw heartbeat.silence }
        } catch { disconnect(error) }
        handOut()
    }

    private func read(_ handle: Handle) throws(AMQPError) {
        hasMoreToRead = false
        var count = 0
        while let event = try handle.nextEvent() {
            switch event {
            case .delivered(var delivery):
                delivery.epoch = epoch
                acks.delivered(delivery.tag)
                buffer.append(delivery)
            case .consumerCancelled:
                throw AMQPError(.queueUnavailable, "the broker cancelled the consumer of queue \(queue)")
            case .closed(let error): throw error
            case .returned(let message, _): moves.returned(message)
            case .confirmed(let tag, let isMultiple, let isRefusal):
                for outcome in moves.confirmed(tag: tag, isMultiple: isMultiple, isRefusal: isRefusal) {
                    let tag = outcome.deliveryTag
                    if outcome.isMoved { acks.acknowledge(tag) } else { acks.requeue(tag) }
                }
            case .blocked, .unblocked: break
            }
            count += 1
            // What the library holds already does not make the socket readable again.
            if count == ConsumerConnection.groupLimit {
                hasMoreToRead = true
                return
            }
        }
    }

    private func resumeDrainWaiter() {
        guard let drainWaiter else { return }
        let isDrained = acks.outstanding == 0 && !acks.hasFrames && pendingFrames.isEmpty
        let isLate = drainDeadline.map { $0 <= .now } ?? true
        guard handle == nil || isDrained || isLate else { return }
        self.drainWaiter = nil
        drainWaiter.resume()
    }
}
