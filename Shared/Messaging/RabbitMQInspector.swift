import AMQP
package import Domain
import Foundations
import ServiceLifecycle
import Synchronization

/// Asks RabbitMQ for the messages and consumers of its queues, by passive declarations on a connection of its own.
///
/// On the publisher's connection a missing queue would close the channel; a queue without a leader, or a broker that
/// stopped reading because of an alarm, would close the connection with all messages that are not confirmed yet.
///
/// RabbitMQ refuses a passive declaration to a user without any right on the queue, from version 4.2.7 on. Such a queue
/// has a problem instead of numbers, and the other queues are asked all the same.
package actor RabbitMQInspector: QueueReadings, DispatchQueueProbe, Service {
    /// The time for the answers of all queues together. No further queue is asked after it.
    static let patience = Duration.seconds(3)

    private typealias Answer = Result<[QueueReading], any Error>

    private let topology: DispatchTopology
    private let now: @Sendable () -> ContinuousClock.Instant
    private let connect: @Sendable () async throws(AMQPError) -> any QueueInspector
    private var connection: (any QueueInspector)?
    /// A connection that is being opened, for all who need one meanwhile.
    private var opening: Task<any QueueInspector, any Error>?
    /// Whether all queues are being asked. Those who ask meanwhile get the same answer.
    private var isAsking = false
    /// The callers that wait for the answer.
    private let callers = Mutex(WaitList<Answer>())

    /// Connects at the first question.
    package init(configuration: MessagingConfiguration) {
        var amqp = configuration.amqp
        // A person or a sweep waits for the answer.
        amqp.connectTimeout = .seconds(1)
        amqp.replyTimeout = .seconds(2)
        amqp.connectionName += " (queues)"
        self.init(topology: configuration.topology) { [amqp] () async throws(AMQPError) -> any QueueInspector in
            try await AMQPConnection.open(amqp)
        }
    }

    /// - Parameter now: the clock that the time for the answers is measured by.
    init(
        topology: DispatchTopology, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        connect: @escaping @Sendable () async throws(AMQPError) -> any QueueInspector
    ) {
        self.topology = topology
        self.now = now
        self.connect = connect
    }

    /// Waits for the shutdown, and closes the connection.
    package func run() async {
        try? await gracefulShutdown()
        await connection?.close()
        connection = nil
    }

    /// The number of ready messages in the dispatch queue; `nil` if the broker does not answer.
    package func readyDispatches() async -> Int? {
        guard let connection = try? await open() else { return nil }
        return try? await connection.inspect(queue: topology.dispatchQueue).messages
    }

    nonisolated var waitingCount: Int { callers.withLock { $0.count } }

    /// The readings of all queues. Callers that ask at the same time get the same ones.
    ///
    /// A command of a connection cannot be interrupted, so a caller does not wait for the command itself: it goes as
    /// soon as its task is cancelled.
    ///
    /// - Throws: ``AMQPError`` if there is no connection, or if the queues do not answer in time; `CancellationError`.
    package func queues() async throws -> [QueueReading] {
        if !isAsking {
            isAsking = true
            Task { await answer() }
        }
        return try await callers.wait(in: \.self).get()
    }

    /// Asks, and gives the answer to all who wait.
    private func answer() async {
        let result: Answer
        do {
            result = .success(try await ask())
        } catch {
            result = .failure(error)
        }
        isAsking = false
        let answered = callers.withLock { $0.removeAll() }
        for caller in answered { caller.resume(returning: result) }
    }

    private func ask() async throws -> [QueueReading] {
        let end = now() + Self.patience
        let delays = Set(topology.retryDelays).sorted().map { topology.retryQueue(delay: $0) }
        let known: [(name: String, purpose: QueueReading.Purpose)] =
            [(topology.dispatchQueue, .dispatch)] + delays.map { ($0, .retry) } + [(topology.deadQueue, .dead)]
        var readings: [QueueReading] = []
        for queue in known {
            let connection = try await open()
            guard now() < end else {
                throw AMQPError(.timeout, "the queues did not answer within \(Self.patience.components.seconds) s")
            }
            readings.append(try await reading(of: queue.name, queue.purpose, on: connection))
        }
        return readings
    }

    private func reading(
        of name: String, _ purpose: QueueReading.Purpose, on connection: any QueueInspector
    ) async throws -> QueueReading {
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

    private func open() async throws -> any QueueInspector {
        while let known = connection {
            if await known.isOpen { return known }
            // Another task may have replaced it meanwhile.
            if connection === known { connection = nil }
        }
        let task =
            opening
            ?? Task {
                defer { opening = nil }
                let opened = try await connect()
                connection = opened
                return opened
            }
        opening = task
        return try await task.value
    }
}

/// A connection on which queues are looked up.
protocol QueueInspector: AnyObject, Sendable {
    var isOpen: Bool { get async }

    /// The number of messages and consumers of a queue.
    func inspect(queue: String) async throws(AMQPError) -> AMQPQueueStatus

    func close() async
}

extension AMQPConnection: QueueInspector {}
