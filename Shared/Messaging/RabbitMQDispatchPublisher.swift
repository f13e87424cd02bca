import AMQP
public import Logging
public import SecurePushCore
public import ServiceLifecycle

/// Publishes IDs over RabbitMQ with confirms; what no queue takes is a failure.
public final class RabbitMQDispatchPublisher: DispatchPublisher, Service {
    private let publisher: AMQPPublisher
    private let topology: DispatchTopology
    private let leaders: QueueLeaderWatch

    /// - Throws: an error where no thread or descriptor is left for the connection.
    public init(configuration: MessagingConfiguration, logger: Logger) throws {
        topology = configuration.topology
        publisher = try AMQPPublisher(
            configuration: configuration.amqp, topology: configuration.topology.declarations,
            publishTimeout: configuration.publishTimeout, logger: logger)
        leaders = QueueLeaderWatch(
            configuration: configuration.amqp, queues: configuration.topology.declarations.queues.map(\.name),
            logger: logger)
    }

    public func run() async {
        async let watch: Void = leaders.run()
        await publisher.run()
        await watch
    }

    public var isConnected: Bool { publisher.isConnected }

    /// What keeps messages from getting through, with what helps, for an operator; `nil` when nothing does. A queue
    /// without a leader is told although ``isConnected`` is true: the others go on.
    public var problem: String? { publisher.problem ?? leaders.problem }

    public func publish(
        _ messages: [DispatchMessage], to route: DispatchRoute
    ) async -> [Result<Void, MessagingError>] {
        let results = await publisher.publish(messages.map { AMQPMessage($0, route: route, topology: topology) })
        return results.map { $0.mapError { MessagingError($0) } }
    }
}
