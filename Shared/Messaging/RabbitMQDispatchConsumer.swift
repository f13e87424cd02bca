import AMQP
public import Logging
public import SecurePushCore
public import ServiceLifecycle
import Synchronization

/// Consumes the dispatch queue.
///
/// A message that cannot be read is moved to the dead-letter exchange by the consumer itself, with the reason in its
/// header, when the dispatcher acknowledges it.
public final class RabbitMQDispatchConsumer: DispatchConsumer, Service {
    private struct Key: Hashable {
        var tag: UInt64
        var epoch: UInt64
    }

    private let consumer: AMQPConsumer
    private let topology: DispatchTopology
    /// Handed out without having been read; they are rare, and as many as the prefetch at most.
    private let unreadable = Mutex<[Key: AMQPMessage]>([:])

    /// - Throws: an error where no thread or descriptor is left for the connection.
    public init(configuration: MessagingConfiguration, logger: Logger) throws {
        topology = configuration.topology
        consumer = try AMQPConsumer(
            configuration: configuration.amqp, topology: configuration.topology.declarations,
            queue: configuration.topology.dispatchQueue, prefetch: configuration.prefetch, logger: logger)
    }

    public func run() async { await consumer.run() }

    public var isConnected: Bool { consumer.isConnected }

    /// Why nothing can arrive now, for an operator; `nil` when it can.
    public var problem: String? { consumer.problem }

    public func next(limit: Int) async -> [DispatchDelivery]? {
        await consumer.next(limit: limit)?.map { delivery in
            let message = DispatchMessage(delivery.message)
            if message == nil { remember(delivery) }
            return DispatchDelivery(
                tag: delivery.tag, epoch: delivery.epoch, message: message, isRedelivered: delivery.isRedelivered)
        }
    }

    public func acknowledge(_ deliveries: [DispatchDelivery]) {
        for delivery in deliveries where delivery.message == nil { park(delivery) }
        consumer.acknowledge(deliveries.lazy.filter { $0.message != nil }.map { (tag: $0.tag, epoch: $0.epoch) })
    }

    public func giveBack(_ deliveries: [DispatchDelivery]) {
        for delivery in deliveries where delivery.message == nil { _ = take(delivery) }
        consumer.giveBack(deliveries.lazy.map { (tag: $0.tag, epoch: $0.epoch) })
    }

    private func remember(_ delivery: AMQPDelivery) {
        unreadable.withLock { unreadable in
            // Those of a lost connection are delivered again under another epoch.
            unreadable = unreadable.filter { $0.key.epoch == delivery.epoch }
            unreadable[Key(tag: delivery.tag, epoch: delivery.epoch)] = delivery.message
        }
    }

    private func take(_ delivery: DispatchDelivery) -> AMQPMessage? {
        unreadable.withLock { $0.removeValue(forKey: Key(tag: delivery.tag, epoch: delivery.epoch)) }
    }

    private func park(_ delivery: DispatchDelivery) {
        guard var message = take(delivery) else { return }
        (message.exchange, message.routingKey) = (topology.deadExchange, "")
        message.isPersistent = true
        message.expiration = nil
        message.headers["reason"] = "unreadable: the body is no notification ID"
        consumer.move(tag: delivery.tag, epoch: delivery.epoch, as: message)
    }
}
