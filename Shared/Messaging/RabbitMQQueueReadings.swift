import AMQP
public import SecurePushCore
public import ServiceLifecycle

/// Asks RabbitMQ for the messages and consumers of all queues, by passive declarations on a connection of its own.
///
/// RabbitMQ refuses a passive declaration to a user without any right on the queue, from version 4.2.7 on. Such a queue
/// has a problem instead of numbers, and the other queues are asked all the same.
public actor RabbitMQQueueReadings: QueueReadings, Service {
    private let configuration: MessagingConfiguration
    private var connection: AMQPConnection?
    /// The question that is being answered. There is one at a time, so that there is one connection.
    private var asking: Task<[QueueReading], any Error>?

    /// Connects at the first question.
    public init(configuration: MessagingConfiguration) {
        var configuration = configuration
        // A person waits for the answer.
        configuration.amqp.connectTimeout = .seconds(1)
        configuration.amqp.replyTimeout = .seconds(2)
        configuration.amqp.connectionName += " (operator)"
        self.configuration = configuration
    }

    /// Waits for the shutdown, and closes the connection.
    public func run() async {
        try? await gracefulShutdown()
        await connection?.close()
        connection = nil
    }

    /// The readings of all queues. Callers that ask at the same time get the same ones.
    ///
    /// - Throws: ``AMQPError`` if there is no connection.
    public func queues() async throws -> [QueueReading] {
        if let asking { return try await asking.value }
        let task = Task { try await ask() }
        asking = task
        defer { asking = nil }
        return try await task.value
    }

    private func ask() async throws -> [QueueReading] {
        let topology = configuration.topology
        let delays = Set(topology.retryDelays).sorted().map { topology.retryQueue(delay: $0) }
        let known: [(name: String, purpose: QueueReading.Purpose)] =
            [(topology.dispatchQueue, .dispatch)] + delays.map { ($0, .retry) } + [(topology.deadQueue, .dead)]
        var readings: [QueueReading] = []
        for queue in known {
            readings.append(try await reading(of: queue.name, queue.purpose))
        }
        return readings
    }

    private func reading(of name: String, _ purpose: QueueReading.Purpose) async throws -> QueueReading {
        let connection = try await open()
        do throws(AMQPError) {
            let status = try await connection.inspect(queue: name)
            return QueueReading(
                name: name, purpose: purpose, messages: status.messages, consumers: status.consumers)
        } catch {
            switch error.code {
            case .notFound: return QueueReading(name: name, purpose: purpose, problem: "The queue does not exist.")
            case .accessRefused:
                return QueueReading(
                    name: name, purpose: purpose, problem: "The broker's user may not look up this queue.")
            default:
                await connection.close()
                self.connection = nil
                throw error
            }
        }
    }

    private func open() async throws(AMQPError) -> AMQPConnection {
        if let connection, await connection.isOpen { return connection }
        let opened = try await AMQPConnection.open(configuration.amqp)
        connection = opened
        return opened
    }
}
