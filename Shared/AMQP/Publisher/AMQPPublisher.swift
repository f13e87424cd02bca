public import Logging
public import ServiceLifecycle

/// Publishes with confirms (AMQP extension `confirm.select`), every message mandatory and on one connection of its own.
///
/// ``run()`` keeps the connection and declares the topology each time it connects. The publisher repeats nothing: what
/// was not confirmed fails, and the caller decides. What failed may yet have been queued.
public final class AMQPPublisher: Service {
    private let connection: PublisherConnection
    private let configuration: AMQPConfiguration
    private let logger: Logger

    /// - Parameters:
    ///   - topology: what is declared on each connect.
    ///   - publishTimeout: how long a publish waits for its confirms.
    ///   - inFlightLimit: messages written and not confirmed; rounded up to a power of two. As many more wait their
    ///     turn, and beyond them a publish fails with ``AMQPError/Code/full``.
    /// - Throws: ``AMQPError`` with code `resources` where no thread or descriptor is left.
    public init(
        configuration: AMQPConfiguration, topology: AMQPTopology = AMQPTopology(),
        publishTimeout: Duration = .seconds(5), inFlightLimit: Int = 8192, logger: Logger
    ) throws(AMQPError) {
        self.configuration = configuration
        self.logger = logger
        connection = try PublisherConnection(
            configuration: configuration, topology: topology, publishTimeout: publishTimeout,
            inFlightLimit: inFlightLimit)
    }

    /// Connects, and again whenever the connection is lost, until graceful shutdown or cancellation. Then what is in
    /// flight is waited for, as long as the publish deadline lasts.
    public func run() async {
        await ReconnectLoop(session: connection, configuration: configuration, logger: logger).run()
    }

    /// Whether a publish can be expected to succeed now: connected, and the broker takes messages.
    public var isConnected: Bool { connection.connected.isSet && !connection.blocked.isSet }

    /// Why ``isConnected`` is false, for an operator; `nil` when it is true.
    public var problem: String? {
        if !connection.connected.isSet { return "not connected to the broker: \(connection.problem.current)" }
        return connection.blocked.isSet ? "the broker takes no messages: it has an alarm (memory or disk)" : nil
    }

    /// Publishes messages, in order, and waits for the broker's answer to each.
    ///
    /// - Returns: one result for each message, in order. Fails at once with ``AMQPError/Code/notConnected`` while there
    ///   is no connection and with ``AMQPError/Code/blocked`` while the broker takes none; otherwise with
    ///   ``AMQPError/Code/returned``, ``AMQPError/Code/nacked``, ``AMQPError/Code/timeout``,
    ///   ``AMQPError/Code/connectionLost`` or ``AMQPError/Code/full``.
    public func publish(_ messages: [AMQPMessage]) async -> [Result<Void, AMQPError>] {
        guard connection.connected.isSet else { return refuse(messages, .notConnected, "not connected to the broker") }
        guard !connection.blocked.isSet else { return refuse(messages, .blocked, "the broker takes no messages") }
        return await connection.publish(messages)
    }

    private func refuse(
        _ messages: [AMQPMessage], _ code: AMQPError.Code, _ text: String
    ) -> [Result<Void, AMQPError>] {
        messages.map { _ in .failure(AMQPError(code, text)) }
    }
}
