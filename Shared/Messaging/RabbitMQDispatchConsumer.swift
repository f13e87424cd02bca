import AMQP
package import Domain
import Foundations
package import Logging
import ServiceLifecycle
import Synchronization

/// Consumes the dispatch queue.
///
/// The consumer itself dead-letters a message that cannot be read, when the dispatcher acknowledges it: it publishes
/// the message to the dead-letter exchange, with the reason in a header. A body above ``DispatchMessage/maxBodyBytes``
/// is not held, so such a message is rejected instead: the broker moves all of it by the queue's arguments, and its
/// size shows the reason. Headers above ``DispatchMessage/maxHeaderBytes`` are dropped when a message is moved:
/// together with the headers that the broker adds they might not fit a frame, and then nobody could read the queue.
package final class RabbitMQDispatchConsumer: DispatchConsumer, Service {
    private struct Key: Hashable {
        var tag: UInt64
        var epoch: UInt64
    }

    /// How a message that cannot be read is dead-lettered.
    private enum DeadLettering {
        /// The broker moves it, because its body is not held.
        case reject
        case move(AMQPMessage)
    }

    private let consumer: AMQPConsumer
    private let publisher: RabbitMQDispatchPublisher
    private let topology: DispatchTopology
    /// Unsettled deliveries that could not be read: at most as many as the prefetch, each within
    /// ``DispatchMessage/limits``.
    private let unreadable = Mutex<[Key: DeadLettering]>([:])
    /// The deliveries that are to be moved. Each is settled only once its copy is confirmed.
    private let moves = Mailbox<(delivery: Key, message: AMQPMessage)>()

    /// Starts the connection's thread; ``run()`` connects.
    ///
    /// - Parameter publisher: publishes dead letters. It has to run until this consumer has ended.
    /// - Throws: ``AMQPError`` with code `resources` if no thread or file descriptor is left.
    package init(
        configuration: MessagingConfiguration, publisher: RabbitMQDispatchPublisher, logger: Logger
    ) throws {
        topology = configuration.topology
        self.publisher = publisher
        consumer = try AMQPConsumer(
            configuration: configuration.amqp, topology: configuration.topology.declarations,
            queue: configuration.topology.dispatchQueue, prefetch: configuration.prefetch,
            limits: DispatchMessage.limits, logger: logger)
    }

    /// Consumes until graceful shutdown or cancellation; see ``AMQPConsumer/run()``.
    package func run() async {
        async let moving: Void = moveDeadLetters()
        await consumer.run()
        moves.close()
        await moving
    }

    private func moveDeadLetters() async {
        while let moves = await moves.take() {
            let results = await publisher.publish(moves.map(\.message))
            var refused: [(tag: UInt64, epoch: UInt64)] = []
            for (move, result) in zip(moves, results) {
                let delivery = (tag: move.delivery.tag, epoch: move.delivery.epoch)
                if case .success = result {
                    consumer.settle([delivery], as: .acknowledge)
                } else {
                    refused.append(delivery)
                }
            }
            guard !refused.isEmpty else { continue }
            // The broker delivers a message that was requeued again at once.
            await cancelWhenGracefulShutdown { try? await Task.sleep(for: .seconds(2)) }
            consumer.settle(refused, as: .requeue)
        }
    }

    /// Whether deliveries can arrive now.
    package var isConnected: Bool { consumer.isConnected }

    /// Why ``isConnected`` is false, for an operator; `nil` when it is true.
    package var problem: String? { consumer.problem }

    /// The deliveries that have arrived, at most `limit`; waits while there are none. `nil` after shutdown.
    package func next(limit: Int) async -> [DispatchDelivery]? {
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

    /// Removes deliveries from the queue; dead-letters those that could not be read. Returns at once.
    package func acknowledge(_ deliveries: [DispatchDelivery]) {
        consumer.settle(deadLetteringUnreadable(deliveries), as: .acknowledge)
    }

    /// Acknowledges deliveries that do no harm if they come again; see ``DeliverySettlement``.
    package func acknowledgeLater(_ deliveries: [DispatchDelivery]) {
        consumer.settle(deadLetteringUnreadable(deliveries), as: .acknowledgeLater)
    }

    /// Dead-letters the deliveries that could not be read, and returns the others.
    private func deadLetteringUnreadable(_ deliveries: [DispatchDelivery]) -> [(tag: UInt64, epoch: UInt64)] {
        var readable: [(tag: UInt64, epoch: UInt64)] = []
        readable.reserveCapacity(deliveries.count)
        for delivery in deliveries {
            if delivery.message == nil {
                deadLetter(delivery)
            } else {
                readable.append((tag: delivery.tag, epoch: delivery.epoch))
            }
        }
        return readable
    }

    /// Returns deliveries to the queue. Returns at once.
    package func requeue(_ deliveries: [DispatchDelivery]) {
        for delivery in deliveries where delivery.message == nil { _ = take(delivery) }
        consumer.settle(deliveries.map { (tag: $0.tag, epoch: $0.epoch) }, as: .requeue)
    }

    private func remember(_ delivery: AMQPDelivery, _ reason: UnreadableMessage) {
        let deadLettering = deadLettering(of: delivery, reason)
        unreadable.withLock { unreadable in
            // The broker redelivers those of a lost connection under another epoch.
            unreadable = unreadable.filter { $0.key.epoch == delivery.epoch }
            unreadable[Key(tag: delivery.tag, epoch: delivery.epoch)] = deadLettering
        }
    }

    private func deadLettering(of delivery: AMQPDelivery, _ reason: UnreadableMessage) -> DeadLettering {
        let areHeadersWhole = delivery.headerBytes <= DispatchMessage.maxHeaderBytes
        if !delivery.isBodyWhole && areHeadersWhole { return .reject }
        var message = delivery.message
        (message.exchange, message.routingKey) = (topology.deadExchange, "")
        message.isPersistent = true
        message.expiration = nil
        message.headers["reason"] = .string(reason.description)
        return .move(message)
    }

    private func take(_ delivery: DispatchDelivery) -> DeadLettering? {
        unreadable.withLock { $0.removeValue(forKey: Key(tag: delivery.tag, epoch: delivery.epoch)) }
    }

    private func deadLetter(_ delivery: DispatchDelivery) {
        switch take(delivery) {
        case .reject: consumer.settle([(tag: delivery.tag, epoch: delivery.epoch)], as: .reject)
        case .move(let message): moves.put((Key(tag: delivery.tag, epoch: delivery.epoch), message))
        case nil: break
        }
    }
}
