public import Logging
public import ServiceLifecycle
import Synchronization

/// Consumes one queue with explicit acknowledgements, on one connection of its own.
///
/// ``run()`` keeps the connection, declares the topology each time it connects, and subscribes again when the broker
/// cancels the consumer. The broker's prefetch is the only buffer: what was handed out and not settled bounds what is.
public final class AMQPConsumer: Service {
    private let connection: ConsumerConnection
    private let configuration: AMQPConfiguration
    private let logger: Logger

    /// - Parameters:
    ///   - topology: what is declared on each connect.
    ///   - prefetch: deliveries that the broker hands out before it waits for settlements (`basic.qos`), at most 65535.
    ///   - limits: how much is held of a message that arrives.
    ///   - drainTimeout: how long a graceful shutdown waits for what was handed out.
    /// - Throws: ``AMQPError`` with code `resources` where no thread or descriptor is left.
    public init(
        configuration: AMQPConfiguration, topology: AMQPTopology = AMQPTopology(), queue: String, prefetch: Int,
        limits: AMQPReceiveLimits = AMQPReceiveLimits(), drainTimeout: Duration = .seconds(7), logger: Logger
    ) throws(AMQPError) {
        self.configuration = configuration
        self.logger = logger
        connection = try ConsumerConnection(
            configuration: configuration, topology: topology, queue: queue, prefetch: prefetch,
            limits: limits, drainTimeout: drainTimeout)
    }

    /// Consumes until graceful shutdown or cancellation. Then it cancels the consumer, gives back what nobody took,
    /// ends every ``next(limit:)``, and waits for the settlement of what was taken.
    public func run() async {
        await ReconnectLoop(session: connection, configuration: configuration, logger: logger).run()
    }

    /// Whether deliveries can arrive now.
    public var isConnected: Bool { connection.connected.isSet }

    /// Why ``isConnected`` is false, for an operator; `nil` when it is true.
    public var problem: String? {
        isConnected ? nil : "not connected to the broker: \(connection.problem.current)"
    }

    /// All that has arrived, at most `limit`; waits when nothing has. `nil` once the consumer is shut down, or the task
    /// is cancelled.
    public func next(limit: Int) async -> [AMQPDelivery]? { await connection.next(limit: limit) }

    /// Acknowledges deliveries. Returns at once; those of a lost connection are ignored.
    public func acknowledge(_ deliveries: some Sequence<(tag: UInt64, epoch: UInt64)>) {
        settle(deliveries, as: .acknowledge)
    }

    /// Gives deliveries back to the queue (`basic.nack` with requeue). Returns at once.
    public func requeue(_ deliveries: some Sequence<(tag: UInt64, epoch: UInt64)>) {
        settle(deliveries, as: .requeue)
    }

    /// Refuses deliveries (`basic.nack` without requeue): the queue's dead-letter exchange gets them, where it has one.
    /// Returns at once.
    public func reject(_ deliveries: some Sequence<(tag: UInt64, epoch: UInt64)>) {
        settle(deliveries, as: .reject)
    }

    public func acknowledge(_ deliveries: [AMQPDelivery]) {
        acknowledge(deliveries.lazy.map { (tag: $0.tag, epoch: $0.epoch) })
    }

    public func requeue(_ deliveries: [AMQPDelivery]) {
        requeue(deliveries.lazy.map { (tag: $0.tag, epoch: $0.epoch) })
    }

    /// Publishes a message in place of a delivery, on the consumer's own channel, and acknowledges the delivery once
    /// the broker has confirmed it; gives it back where no queue takes the message. Returns at once.
    public func move(tag: UInt64, epoch: UInt64, as message: AMQPMessage) {
        connection.move(SettlementMailbox.Move(message: message, tag: tag, epoch: epoch))
    }

    private func settle(
        _ deliveries: some Sequence<(tag: UInt64, epoch: UInt64)>, as kind: SettlementMailbox.Letter.Kind
    ) {
        connection.settle(deliveries.map { SettlementMailbox.Letter(kind: kind, tag: $0.tag, epoch: $0.epoch) })
    }
}

/// What is left for the consumer's thread without waiting for it.
final class SettlementMailbox: Sendable {
    struct Letter: Sendable {
        enum Kind { case acknowledge, requeue, reject }

        var kind: Kind
        var tag: UInt64
        var epoch: UInt64
    }

    struct Move: Sendable {
        var message: AMQPMessage
        var tag: UInt64
        var epoch: UInt64
    }

    struct Contents: Sendable {
        var letters: [Letter] = []
        /// Deliveries to be published elsewhere before they are acknowledged.
        var moves: [Move] = []
        /// Calls of `next` whose tasks were cancelled.
        var cancelled: [UInt64] = []

        var isEmpty: Bool { letters.isEmpty && moves.isEmpty && cancelled.isEmpty }
    }

    private let contents = Mutex(Contents())

    /// - Returns: whether the mailbox was empty, so that its owner must be woken.
    func put(_ body: (inout Contents) -> Void) -> Bool {
        contents.withLock { contents in
            let wasEmpty = contents.isEmpty
            body(&contents)
            return wasEmpty
        }
    }

    func takeAll() -> Contents {
        contents.withLock { contents in
            defer { contents = Contents() }
            return contents
        }
    }
}
