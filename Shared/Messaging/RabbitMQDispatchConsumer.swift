import AMQP
public import Logging
public import SecurePushCore
public import ServiceLifecycle
import Synchronization

/// Consumes the dispatch queue.
///
/// A message that cannot be read is dead-lettered by the consumer itself when the dispatcher acknowledges it: it is
/// moved to the dead-letter exchange, with the reason in its header. One whose body is above
/// ``DispatchMessage/maxBodyBytes`` is not held, so that it is rejected instead: the broker moves it by the queue's
/// own arguments, whole, and whoever reads the dead letter sees the reason by its size. Headers above
/// ``DispatchMessage/maxHeaderBytes`` are left out of what is moved: with those that the broker adds, they might fit
/// no frame any more, and nobody could read the queue.
public final class RabbitMQDispatchConsumer: DispatchConsumer, Service {
    private struct Key: Hashable {
        var tag: UInt64
        var epoch: UInt64
    }

    private let consumer: AMQPConsumer
    private let topology: DispatchTopology
    /// How a message that cannot be read leaves the queue.
    private enum Parking {
        /// Nothing of it is held.
        case reject
        case move(AMQPMessage)
    }

    /// Handed out without having been read; they are as many as the prefetch at most, and each holds no more than
    /// ``DispatchMessage/limits``.
    private let unreadable = Mutex<[Key: Parking]>([:])

    /// - Throws: an error where no thread or descriptor is left for the connection.
    public init(configuration: MessagingConfiguration, logger: Logger) throws {
        topology = configuration.topology
        consumer = try AMQPConsumer(
            configuration: configuration.amqp, topology: configuration.topology.declarations,
            queue: configuration.topology.dispatchQueue, prefetch: configuration.prefetch,
            limits: DispatchMessage.limits, logger: logger)
    }

    public func run() async { await consumer.run() }

    public var isConnected: Bool { consumer.isConnected }

    /// Why nothing can arrive now, for an operator; `nil` when it can.
    public var problem: String? { consumer.problem }

    public func next(limit: Int) async -> [DispatchDelivery]? {
        await consumer.next(limit: limit)?.map { delivery in
            var message: DispatchMessage?
            do throws(UnreadableMessage) {
                message = try DispatchMessage(delivery)
            } catch {
                remember(delivery, error)
            }
            return DispatchDelivery(
                tag: delivery.tag, epoch: delivery.epoch, message: message, isRedelivered: delivery.isRedelivered)
        }
    }

    public func acknowledge(_ deliveries: [DispatchDelivery]) {
        for delivery in deliveries where delivery.message == nil { park(delivery) }
        consumer.acknowledge(deliveries.lazy.filter { $0.message != nil }.map { (tag: $0.tag, epoch: $0.epoch) })
    }

    public func requeue(_ deliveries: [DispatchDelivery]) {
        for delivery in deliveries where delivery.message == nil { _ = take(delivery) }
        consumer.requeue(deliveries.lazy.map { (tag: $0.tag, epoch: $0.epoch) })
    }

    private func remember(_ delivery: AMQPDelivery, _ reason: UnreadableMessage) {
        let parking = parking(of: delivery, reason)
        unreadable.withLock { unreadable in
            // Those of a lost connection are delivered again under another epoch.
            unreadable = unreadable.filter { $0.key.epoch == delivery.epoch }
            unreadable[Key(tag: delivery.tag, epoch: delivery.epoch)] = parking
        }
    }

    private func parking(of delivery: AMQPDelivery, _ reason: UnreadableMessage) -> Parking {
        let areHeadersWhole = delivery.headerBytes <= DispatchMessage.maxHeaderBytes
        if !delivery.isBodyWhole && areHeadersWhole { return .reject }
        var message = delivery.message
        (message.exchange, message.routingKey) = (topology.deadExchange, "")
        message.isPersistent = true
        message.expiration = nil
        message.headers["reason"] = .string(reason.description)
        return .move(message)
    }

    private func take(_ delivery: DispatchDelivery) -> Parking? {
        unreadable.withLock { $0.removeValue(forKey: Key(tag: delivery.tag, epoch: delivery.epoch)) }
    }

    private func park(_ delivery: DispatchDelivery) {
        switch take(delivery) {
        case .reject: consumer.reject(CollectionOfOne((tag: delivery.tag, epoch: delivery.epoch)))
        case .move(let message): consumer.move(tag: delivery.tag, epoch: delivery.epoch, as: message)
        case nil: break
        }
    }
}
