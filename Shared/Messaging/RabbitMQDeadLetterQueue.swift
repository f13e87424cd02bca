public import AMQP
public import SecurePushCore

/// The dead-letter queue in RabbitMQ, on one connection.
///
/// Letters are taken by `basic.get` and not acknowledged; closing gives them back, and so does the end of a process
/// that is killed. RabbitMQ may hand them out in another order afterwards, which matters to none.
public actor RabbitMQDeadLetterQueue: DeadLetterQueue {
    private let connection: AMQPConnection
    private let queue: String
    private var held: [UInt64: AMQPDelivery] = [:]

    private init(_ connection: AMQPConnection, queue: String) {
        self.connection = connection
        self.queue = queue
    }

    /// Connects; declares nothing.
    ///
    /// - Throws: ``AMQPError``; `notFound` where no service has declared the queue yet.
    public static func open(_ configuration: MessagingConfiguration) async throws(AMQPError) -> RabbitMQDeadLetterQueue
    {
        let connection = try await AMQPConnection.open(configuration.amqp, limits: DispatchMessage.limits)
        let queue = RabbitMQDeadLetterQueue(connection, queue: configuration.topology.deadQueue)
        do throws(AMQPError) {
            _ = try await connection.inspect(queue: configuration.topology.deadQueue)
        } catch {
            await connection.close()
            throw error
        }
        return queue
    }

    public func count() async throws -> Int { try await connection.inspect(queue: queue).messages }

    public func next() async throws -> DeadLetter? {
        guard let delivery = try await connection.get(queue: queue) else { return nil }
        held[delivery.tag] = delivery
        return DeadLetter(delivery)
    }

    public func remove(_ letter: DeadLetter) async throws {
        guard let delivery = held.removeValue(forKey: letter.tag) else { return }
        try await connection.acknowledge(delivery)
    }

    public func purge() async throws -> Int { try await connection.purge(queue: queue) }

    public func close() async {
        held = [:]
        await connection.close()
    }
}

extension DeadLetter {
    /// What the dispatcher or the consumer wrote into `reason`; else what can be seen of a message that the consumer
    /// rejected unread; else the broker's own word (`x-first-death-reason`).
    init(_ delivery: AMQPDelivery) {
        let headers = delivery.message.headers
        var (message, size): (DispatchMessage?, String?)
        do throws(UnreadableMessage) {
            message = try DispatchMessage(delivery)
        } catch {
            switch error {
            case .body, .headers: size = error.description
            case .noID, .attempt: break
            }
        }
        let reason =
            size ?? headers["reason"]?.string
            ?? headers["x-first-death-reason"]?.string.map { "given up by the broker: \($0)" }
        self.init(
            tag: delivery.tag, message: message, reason: reason ?? "no reason given",
            byteCount: Int(clamping: delivery.bodyBytes))
    }
}
