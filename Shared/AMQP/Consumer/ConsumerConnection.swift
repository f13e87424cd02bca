import DequeModule
import Synchronization
import ThreadExecutor

/// The consumer's connection, on its own thread. Waiting acknowledgements are written as one group of frames.
actor ConsumerConnection: ThreadExecutor.Client, BrokerSession {
    private static let consumerTag = "consumer"

    private let executor: ThreadExecutor
    private let configuration: AMQPConfiguration
    private let topology: AMQPTopology
    private let queue: String
    private let prefetch: Int
    private let limits: AMQPReceiveLimits
    private let drainTimeout: Duration
    var link = BrokerLink()
    private var epoch: UInt64 = 0
    private var acks = AckStateMachine()
    private var pendingFrames: Deque<AckStateMachine.Frame> = []
    private(set) var isShuttingDown = false
    private var drainDeadline: ContinuousClock.Instant?
    private var drainWaiter: CheckedContinuation<Void, Never>?
    nonisolated let status: LinkStatus
    /// The settlements that callers leave for the thread without waiting for it.
    private nonisolated let mailbox = Mutex<[DeliverySettlement]>([])
    private nonisolated let intake = DeliveryIntake()

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
        status = link.status
        executor.setClient(self)
    }

    deinit { executor.stop() }

    nonisolated func next(limit: Int) async -> [AMQPDelivery]? { await intake.next(limit: limit) }

    /// Leaves settlements for the thread, which drops those of earlier epochs.
    nonisolated func settle(_ settlements: [DeliverySettlement]) {
        guard !settlements.isEmpty else { return }
        let wasEmpty = mailbox.withLock { mailbox in
            defer { mailbox += settlements }
            return mailbox.isEmpty
        }
        if wasEmpty { executor.post() }
    }

    func open(_ node: AMQPConfiguration.Node) throws(AMQPError) {
        let handle = try Handle(node: node, configuration: configuration, limits: limits)
        try handle.declare(topology)
        try handle.consume(queue: queue, prefetch: prefetch, tag: ConsumerConnection.consumerTag)
        // For a quorum queue without a leader the broker confirms the consumer at once, and then delivers nothing
        // for a minute. It answers this request only when the consumer really exists.
        _ = try handle.inspect(queue: queue)
        epoch += 1
        acks.maxWaiting = prefetch / 4
        link.opened(handle)
    }

    /// Cancels the consumer, requeues deliveries that nobody took, and waits until the others are settled.
    func shutDown() async {
        isShuttingDown = true
        status.isConnected = false
        acks.maxWaiting = 0
        let waiters = intake.close()
        cancelConsumer()
        for waiter in waiters { waiter.resume(returning: nil) }
        if link.handle != nil {
            drainDeadline = .now + drainTimeout
            await withCheckedContinuation { drainWaiter = $0 }
        }
        link.handle?.close()
        disconnect(AMQPError(.notConnected, "shutting down"))
    }

    private func cancelConsumer() {
        guard let handle = link.handle else { return }
        do {
            try handle.cancelConsumer(tag: ConsumerConnection.consumerTag)
            repeat { try read(handle) } while link.hasMoreToRead
            for delivery in intake.removeAll() { acks.settle(delivery.tag, as: .requeue) }
        } catch { disconnect(error) }
    }

    private func disconnect(_ error: AMQPError) {
        // The broker redelivers messages that were not settled.
        acks = AckStateMachine()
        pendingFrames.removeAll()
        _ = intake.removeAll()
        link.closed(error)
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
        if let handle = link.handle {
            pendingFrames.append(contentsOf: acks.frames())
            do throws(AMQPError) {
                if !pendingFrames.isEmpty { try writeFrames(handle) }
            } catch { disconnect(error) }
        }
        resumeDrainWaiter()
        return link.interest(deadline: drainDeadline, untilWritable: !pendingFrames.isEmpty)
    }

    private func takeMail() {
        let settlements = mailbox.withLock { mailbox in
            defer { mailbox = [] }
            return mailbox
        }
        for settlement in settlements where settlement.epoch == epoch && link.handle != nil {
            acks.settle(settlement.tag, as: settlement.kind)
        }
    }

    private func writeFrames(_ handle: Handle) throws(AMQPError) {
        guard pendingFrames.count > 1 else { return try writeSome(handle) }
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
    }

    private func serve(readable: Bool) {
        let now = ContinuousClock.now
        guard let handle = link.handleToServe(readable: readable, now: now) else { return }
        do throws(AMQPError) {
            try read(handle)
            try link.checkHeartbeat(now)
        } catch { disconnect(error) }
    }

    private func read(_ handle: Handle) throws(AMQPError) {
        var deliveries: [AMQPDelivery] = []
        link.hasMoreToRead = try handle.readEvents { event throws(AMQPError) in
            switch event {
            case .delivered(var delivery):
                delivery.epoch = epoch
                acks.delivered(delivery.tag)
                deliveries.append(delivery)
            case .consumerCancelled:
                throw AMQPError(.queueUnavailable, "the broker cancelled the consumer of queue \(queue)")
            case .closed(let error): throw error
            case .returned, .confirmed, .blocked, .unblocked: break
            }
        }
        // If the connection has just been lost, the broker delivers them again.
        intake.put(deliveries)
    }

    private func resumeDrainWaiter() {
        guard let drainWaiter else { return }
        let isDrained = acks.outstanding == 0 && !acks.hasFrames && pendingFrames.isEmpty
        let isLate = drainDeadline.map { $0 <= .now } ?? true
        guard link.handle == nil || isDrained || isLate else { return }
        self.drainWaiter = nil
        drainWaiter.resume()
    }
}
