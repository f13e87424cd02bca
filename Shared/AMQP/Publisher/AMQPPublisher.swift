package import Logging
import ServiceLifecycle

/// Publishes with confirms (RabbitMQ's extension `confirm.select`), each message mandatory, on one connection of its
/// own.
///
/// ``run()`` keeps the connection open and declares the topology on each connect, and when messages are returned. The
/// publisher never retries: a message that was not confirmed fails, and the caller decides. A message that failed may
/// still have been queued.
package final class AMQPPublisher: Service {
    private let connection: PublisherConnection
    private let configuration: AMQPConfiguration
    private let logger: Logger

    /// Starts the connection's thread; ``run()`` connects.
    ///
    /// - Parameters:
    ///   - topology: exchanges, queues and bindings to declare on each connect.
    ///   - publishTimeout: how long a publish waits for its confirms.
    ///   - inFlightLimit: messages written but not confirmed; rounded up to a power of two. The same number may wait to
    ///     be written; beyond that a publish fails with ``AMQPError/Code/full``.
    /// - Throws: ``AMQPError`` with code `resources` if no thread or file descriptor is left.
    package init(
        configuration: AMQPConfiguration, topology: AMQPTopology = AMQPTopology(),
        publishTimeout: Duration = .seconds(5), inFlightLimit: Int = 8192, logger: Logger
    ) throws(AMQPError) {
        self.configuration = configuration
        self.logger = logger
        connection = try PublisherConnection(
            configuration: configuration, topology: topology, publishTimeout: publishTimeout,
            inFlightLimit: inFlightLimit)
    }

    /// Connects, and reconnects whenever the connection is lost, until graceful shutdown or cancellation. Then it waits
    /// for the confirms of messages in flight, at most until their publish deadline.
    package func run() async {
        await ReconnectLoop(session: connection, configuration: configuration, logger: logger).run()
    }

    /// Whether a publish can be expected to succeed now: there is a connection, and the broker accepts messages.
    package var isConnected: Bool { status.isConnected && !status.isBlocked }

    private var status: LinkStatus { connection.status }

    /// Why ``isConnected`` is false, for an operator; `nil` when it is true.
    package var problem: String? {
        if !status.isConnected { return "not connected to the broker: \(status.problem)" }
        return status.isBlocked ? "the broker accepts no messages: it has an alarm (memory or disk)" : nil
    }

    /// Why the broker returns messages, for an operator: it names the binding or queue that is missing. `nil` while all
    /// messages are accepted. Where the topology is declared, the publisher declares it again.
    package var unroutable: String? { status.unroutable }

    /// The connection's thread: a task that runs there publishes without a change of threads. It must not block.
    package var executor: any TaskExecutor { connection.executor }

    /// Publishes messages, in order, and waits for the broker's confirm of each.
    ///
    /// - Returns: one result per message, in order. Fails at once with ``AMQPError/Code/notConnected`` while there is
    ///   no connection and with ``AMQPError/Code/blocked`` while the broker accepts no messages; otherwise with
    ///   ``AMQPError/Code/returned``, ``AMQPError/Code/nacked``, ``AMQPError/Code/timeout``,
    ///   ``AMQPError/Code/connectionLost`` or ``AMQPError/Code/full``.
    package func publish(_ messages: [AMQPMessage]) async -> [Result<Void, AMQPError>] {
        guard status.isConnected else { return refuse(messages, .notConnected, "not connected to the broker") }
        guard !status.isBlocked else { return refuse(messages, .blocked, "the broker accepts no messages") }
        return await connection.publish(messages)
    }

    private func refuse(
        _ messages: [AMQPMessage], _ code: AMQPError.Code, _ text: String
    ) -> [Result<Void, AMQPError>] {
        messages.map { _ in .failure(AMQPError(code, text)) }
    }
}
