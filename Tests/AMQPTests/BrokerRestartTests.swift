import AMQP
import Synchronization
import TestSupport
import Testing

/// What the broker confirmed while it was killed and restarted.
private final class Tally: Sendable {
    let confirmed = Mutex<Set<String>>([])
    let isDone = Mutex(false)

    func count() -> Int { confirmed.withLock { $0.count } }
}

@Suite(.timeLimit(.minutes(3))) struct BrokerRestartTests {
    /// Publishes numbered messages, each again until it is confirmed, as the outbox does.
    private func publishAll(_ publisher: AMQPPublisher, to queue: String, _ tally: Tally) async {
        var next = 0
        while !tally.isDone.withLock({ $0 }) {
            let batch = messages(next..<next + 50, to: queue)
            let results = await publisher.publish(batch)
            for (message, result) in zip(batch, results) {
                guard case .success = result, let id = message.messageID else { continue }
                tally.confirmed.withLock { _ = $0.insert(id) }
            }
            if failures(results).isEmpty { next += 50 } else { try? await Task.sleep(for: .milliseconds(20)) }
        }
    }

    @Test func nothingThatWasConfirmedIsLostWhenTheBrokerIsKilled() async throws {
        try await withRabbitMQServer { server in
            let configuration = try brokerConfiguration(server.url)
            let topology = AMQPTopology(queues: [.init("restarted", arguments: ["x-queue-type": "quorum"])])
            let tally = Tally()
            try await withPublisher(configuration, topology) { publisher in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await publishAll(publisher, to: "restarted", tally) }
                    #expect(try await eventually { tally.count() > 500 })
                    try await server.kill()
                    try await server.start()
                    try await server.heal()
                    #expect(try await eventually { publisher.isConnected })
                    let before = tally.count()
                    #expect(try await eventually { tally.count() > before + 500 })
                    tally.isDone.withLock { $0 = true }
                    try await group.waitForAll()
                }
            }
            let confirmed = tally.confirmed.withLock { $0 }
            var missing = confirmed
            try await withConsumer(configuration, topology, queue: "restarted", prefetch: 1000) { consumer in
                while !missing.isEmpty {
                    let deliveries = try #require(await consumer.next(limit: 1000))
                    consumer.acknowledge(deliveries)
                    missing.subtract(deliveries.map(text))
                }
            }
            #expect(missing.isEmpty)
        }
    }
}
