import AMQP
public import Logging
public import SecurePushCore
public import ServiceLifecycle

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
