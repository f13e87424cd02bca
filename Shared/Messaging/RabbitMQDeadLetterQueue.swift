package import AMQP
package import Domain

/// The dead-letter queue in RabbitMQ, on one connection.
///
/// Dead letters are read by `basic.get` without acknowledgement. Closing the connection requeues them, and so does a
/// crash. RabbitMQ may deliver them in another order afterwards, which does not matter.
package actor RabbitMQDeadLetterQueue: DeadLetterQueue {
    private let connection: AMQPConnection
    private let queue: String
    private var held: [UInt64: AMQPDelivery] = [:]

    private init(_ connection: AMQPConnection, queue: String) {
        self.connection = connection
        self.queue = queue
    }

    /// Connects without declaring anything.
    ///
    /// - Throws: ``AMQPError``, with code `notFound` if no service has declared the queue yet.
    package static func open(_ configuration: MessagingConfiguration) async throws(AMQPError) -> RabbitMQDeadLetterQueue
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

    /// The number of ready dead letters.
    package func count() async throws -> Int { try await connection.inspect(queue: queue).messages }

    /// The next dead letter; `nil` if there are no more.
    package func next() async throws -> DeadLetter? {
        guard let delivery = try await connection.get(queue: queue) else { return nil }
        held[delivery.tag] = delivery
        return DeadLetter(delivery)
    }

    /// Removes a dead letter for good.
    package func remove(_ letter: DeadLetter) async throws {
        guard let delivery = held.removeValue(forKey: letter.tag) else { return }
        try await connection.acknowledge(delivery)
    }

    /// Removes all ready dead letters; returns how many.
    package func purge() async throws -> Int { try await connection.purge(queue: queue) }

    /// Closes the connection, which requeues all dead letters that were not removed.
    package func close() async {
        held = [:]
        await connection.close()
    }
}

extension DeadLetter {
    /// Its reason is the size of a message that exceeds the limits; otherwise the header `reason`, which the dispatcher
    /// or the consumer set; otherwise the broker's reason (`x-first-death-reason`).
    init(_ delivery: AMQPDelivery) {
        let headers = delivery.message.headers
        var (message, size): (DispatchMessage?, String?)
        do throws(UnreadableMessage) {
            message = try DispatchMessage(delivery)
        } catch {
            switch error {
            case .body, .headers: size = error.description
            case .notAnID, .attempt, .kind: break
            }
        }
        let reason =
            size ?? headers["reason"]?.string
            ?? headers["x-first-death-reason"]?.string.map { "dead-lettered by the broker: \($0)" }
        self.init(
            tag: delivery.tag, message: message, reason: reason ?? "no reason given",
            byteCount: Int(clamping: delivery.bodyBytes))
    }
}
