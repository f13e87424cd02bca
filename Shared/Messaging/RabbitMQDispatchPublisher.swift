import AMQP
public import Logging
public import SecurePushCore
public import ServiceLifecycle

/// Publishes IDs over RabbitMQ with confirms; what no queue takes is a failure.
public final class RabbitMQDispatchPublisher: DispatchPublisher, Service {
    private let publisher: AMQPPublisher
    private let topology: DispatchTopology

    public init(configuration: MessagingConfiguration, logger: Logger) {
        topology = configuration.topology
        publisher = AMQPPublisher(
            configuration: configuration.amqp, topology: configuration.topology.declarations,
            publishTimeout: configuration.publishTimeout, logger: logger)
    }

    public func run() async { await publisher.run() }

    public var isConnected: Bool { publisher.isConnected }

    public func publish(
        _ messages: [DispatchMessage], to route: DispatchRoute
    ) async -> [Result<Void, MessagingError>] {
        let results = await publisher.publish(messages.map { AMQPMessage($0, route: route, topology: topology) })
        return results.map { $0.mapError { MessagingError($0) } }
    }
}
