package import Logging
import ServiceLifecycle
import Synchronization

/// Consumes one queue with explicit acknowledgements, on one connection of its own.
///
/// ``run()`` keeps the connection open, declares the topology on each connect, and subscribes again when the broker
/// cancels the consumer. The broker's prefetch is the only bound: it delivers nothing more while that many deliveries
/// are not settled.
package final class AMQPConsumer: Service {
    private let connection: ConsumerConnection
    private let configuration: AMQPConfiguration
    private let logger: Logger

    /// Starts the connection's thread; ``run()`` connects.
    ///
    /// - Parameters:
    ///   - topology: exchanges, queues and bindings to declare on each connect.
    ///   - queue: the queue to consume.
    ///   - prefetch: unsettled deliveries after which the broker waits (`basic.qos`), at most 65535.
    ///   - limits: how much of an arriving message is held.
    ///   - drainTimeout: how long a graceful shutdown waits for deliveries to be settled.
    /// - Throws: ``AMQPError`` with code `resources` if no thread or file descriptor is left.
    package init(
        configuration: AMQPConfiguration, topology: AMQPTopology = AMQPTopology(), queue: String, prefetch: Int,
        limits: AMQPReceiveLimits = AMQPReceiveLimits(), drainTimeout: Duration = .seconds(7), logger: Logger
    ) throws(AMQPError) {
        self.configuration = configuration
        self.logger = logger
        connection = try ConsumerConnection(
            configuration: configuration, topology: topology, queue: queue, prefetch: prefetch,
            limits: limits, drainTimeout: drainTimeout)
    }

    /// Consumes until graceful shutdown or cancellation. Then it cancels the consumer, requeues deliveries that nobody
    /// took, ends every ``next(limit:)``, and waits until the deliveries that were taken are settled.
    package func run() async {
        await ReconnectLoop(session: connection, configuration: configuration, logger: logger).run()
    }

    /// Whether deliveries can arrive now.
    package var isConnected: Bool { connection.status.isConnected }

    /// Why ``isConnected`` is false, for an operator; `nil` when it is true.
    package var problem: String? {
        isConnected ? nil : "not connected to the broker: \(connection.status.problem)"
    }

    /// The deliveries that have arrived, at most `limit`; waits while there are none. `nil` once the consumer is shut
    /// down or the task is cancelled.
    package func next(limit: Int) async -> [AMQPDelivery]? { await connection.next(limit: limit) }

    /// Settles deliveries. Returns at once; deliveries of a lost connection are ignored.
    package func settle(_ deliveries: [(tag: UInt64, epoch: UInt64)], as kind: DeliverySettlement.Kind) {
        connection.settle(deliveries.map { DeliverySettlement(kind: kind, tag: $0.tag, epoch: $0.epoch) })
    }
}

/// The end of one delivery.
package struct DeliverySettlement: Sendable {
    package enum Kind: Sendable {
        case acknowledge
        /// An acknowledgement of a delivery that does no harm if it comes again. It may wait for those of earlier
        /// deliveries, so that one frame acknowledges all of them; at most a quarter of the prefetch waits.
        case acknowledgeLater
        /// Back to the queue (`basic.nack` with requeue).
        case requeue
        /// To the queue's dead-letter exchange, if it has one (`basic.nack` without requeue).
        case reject
    }

    var kind: Kind
    var tag: UInt64
    var epoch: UInt64
}
