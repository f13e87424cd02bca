import AMQP
import StackKit
import Synchronization
import TestSupport
import Testing

/// What was confirmed and what was delivered while the broker went down and came back.
private final class Tally: Sendable {
    let confirmed = Mutex<Set<String>>([])
    let delivered = Mutex<Set<String>>([])
    let isDone = Mutex(false)

    var confirmedCount: Int { confirmed.withLock { $0.count } }
    var deliveredCount: Int { delivered.withLock { $0.count } }
    var missing: Set<String> { confirmed.withLock { $0 }.subtracting(delivered.withLock { $0 }) }
    var isOver: Bool { isDone.withLock { $0 } || Task.isCancelled }

    /// Publishes numbered messages, each again until it is confirmed, as the outbox does.
    func publishAll(by publisher: AMQPPublisher, to queue: String) async {
        var next = 0
        while !isOver {
            let batch = messages(next..<next + 50, to: queue)
            let results = await publisher.publish(batch)
            for (message, result) in zip(batch, results) {
                guard case .success = result, let id = message.messageID else { continue }
                confirmed.withLock { _ = $0.insert(id) }
            }
            if failures(results).isEmpty { next += 50 } else { _ = try? await eventually { publisher.isConnected } }
        }
    }

    func consumeAll(by consumer: AMQPConsumer) async {
        while let deliveries = await consumer.next(limit: 1000) {
            delivered.withLock { $0.formUnion(deliveries.map(text)) }
            consumer.acknowledge(deliveries)
        }
    }
}

private let name = "restarted"
private let topology = AMQPTopology(queues: [.init(name, arguments: ["x-queue-type": "quorum"])])

/// Publishes and consumes while `interruption` happens to the broker, and for a while after it.
private func outlives(
    _ server: RabbitMQServer, consumes: Bool = true, _ interruption: () async throws -> Void
) async throws {
    let configuration = try brokerConfiguration(server.url)
    let tally = Tally()
    try await withPublisher(configuration, topology) { publisher in
        try await withConsumer(configuration, topology, queue: name, prefetch: 1000) { consumer in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await tally.publishAll(by: publisher, to: name) }
                if consumes { group.addTask { await tally.consumeAll(by: consumer) } }
                let isInFlight = try await eventually { tally.confirmedCount > 500 }
                try #require(isInFlight)
                try await interruption()
                let before = (confirmed: tally.confirmedCount, delivered: tally.deliveredCount)
                if !consumes { group.addTask { await tally.consumeAll(by: consumer) } }
                let isBack = try await eventually { tally.confirmedCount > before.confirmed + 500 }
                try #require(isBack)
                tally.isDone.withLock { $0 = true }
                let isComplete = try await eventually { tally.missing.isEmpty }
                #expect(isComplete)
                #expect(tally.deliveredCount >= before.delivered + 500)
                group.cancelAll()
            }
        }
    }
}

extension OwnBrokerTests {
    @Suite struct BrokerRestartTests {
        @Test func `Nothing confirmed is lost when the broker is killed`() async throws {
            try await withRabbitMQServer { server in
                try await outlives(server) {
                    let isRemembered = try await eventually { try server.remembers(queue: name) }
                    try #require(isRemembered)
                    try await server.kill()
                    try await server.start()
                }
            }
        }

        @Test func `Nothing confirmed is lost when the broker is restarted`() async throws {
            try await withRabbitMQServer { server in
                try await outlives(server) {
                    try await server.stop()
                    try await server.start()
                }
            }
        }

        /// RabbitMQ before 2024 loses sight of a queue that is younger than half a second when it is killed.
        @Test func `A queue that the broker lost sight of is healed`() async throws {
            try await withRabbitMQServer { server in
                try await outlives(server, consumes: false) {
                    try await server.kill()
                    try await server.start()
                    let said = try await server.heal()
                    #expect(!said.contains("leaderless"))
                    let again = try await server.heal()
                    #expect(again.contains("every quorum queue has a leader"))
                }
            }
        }
    }
}
