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
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>] {
        let results = await publisher.publish(
            messages.map { AMQPMessage($0.message, route: $0.route, topology: topology) })
        return results.map { $0.mapError { MessagingError($0) } }
    }
}

/// Asks RabbitMQ how many messages of the dispatch queue are ready, by a passive declaration.
///
/// On a connection of its own, made at the first question: asked on the publisher's, a queue that is missing would
/// close the channel, and one without a leader, or a broker that reads nothing for an alarm, the connection, with
/// everything on it that is not confirmed yet.
public actor RabbitMQDispatchGauge: DispatchGauge, Service {
    private let configuration: MessagingConfiguration
    private let logger: Logger
    private var connection: AMQPConnection?

    public init(configuration: MessagingConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
    }

    /// Waits for the shutdown, and closes.
    public func run() async {
        try? await gracefulShutdown()
        await connection?.close()
        connection = nil
    }

    public func readyDispatches() async -> Int? {
        do {
            return try await open().inspect(queue: configuration.topology.dispatchQueue).messages
        } catch {
            logger.debug("the dispatch queue cannot be asked for", metadata: ["error": "\(error)"])
            if await connection?.isOpen == false { connection = nil }
            return nil
        }
    }

    private func open() async throws(AMQPError) -> AMQPConnection {
        if let connection { return connection }
        let opened = try await AMQPConnection.open(configuration.amqp)
        connection = opened
        return opened
    }
}

extension MessagingError {
    init(_ error: AMQPError) {
        let code: Code =
            switch error.code {
            case .blocked: .blocked
            case .nacked: .nacked
            case .returned: .returned
            case .timeout: .timeout
            case .full: .full
            case .connectionLost, .closed, .queueUnavailable: .connectionLost
            default: .notConnected
            }
        self.init(code, error.message)
    }
}
