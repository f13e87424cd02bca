import AMQP
import ServiceLifecycle
import ServiceLifecycleTestKit
import StackKit
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConsumerTests {
    private func filled(
        _ count: Int, _ body: (AMQPConfiguration, String, AMQPTopology) async throws -> Void
    ) async throws {
        let configuration = try brokerConfiguration()
        try await withQueue { queue, topology in
            try await withPublisher(configuration, topology) { publisher in
                #expect(await codes(publisher, messages(0..<count, to: queue)).isEmpty)
            }
            try await body(configuration, queue, topology)
        }
    }

    @Test func `The prefetch bounds what is handed out`() async throws {
        try await filled(20) { configuration, queue, topology in
            try await withConsumer(configuration, topology, queue: queue, prefetch: 5) { consumer in
                let held = try await take(5, from: consumer, acknowledging: false)
                #expect(try await AMQPTests.queue(queue, comesToHold: 15))
                consumer.acknowledge(Array(held.prefix(2)))
                _ = try await take(2, from: consumer, acknowledging: false)
            }
        }
    }

    @Test func `Acknowledgements in any order settle all`() async throws {
        try await filled(500) { configuration, queue, topology in
            try await withConsumer(configuration, topology, queue: queue, prefetch: 500) { consumer in
                let held = try await take(500, from: consumer, acknowledging: false).shuffled()
                for delivery in held.dropLast(10) { consumer.acknowledge([delivery]) }
                consumer.acknowledge(Array(held.suffix(10)))
            }
            #expect(try await AMQPTests.queue(queue, comesToHold: 0))
        }
    }

    @Test func `What is given back comes again`() async throws {
        try await filled(1) { configuration, queue, topology in
            try await withConsumer(configuration, topology, queue: queue) { consumer in
                consumer.requeue(try await take(1, from: consumer, acknowledging: false))
                let again = try await take(1, from: consumer)
                #expect(again.first?.isRedelivered == true)
            }
        }
    }

    @Test func `What was not acknowledged comes again after the connection breaks`() async throws {
        try await filled(3) { configuration, queue, topology in
            let proxy = try TCPProxy(to: try brokerPort())
            defer { proxy.close() }
            let throughProxy = try brokerConfiguration("amqp://127.0.0.1:\(proxy.port)")
            try await withConsumer(throughProxy, topology, queue: queue) { consumer in
                let held = try await take(3, from: consumer, acknowledging: false)
                proxy.cut()
                let again = try await take(3, from: consumer, acknowledging: false)
                #expect(again.allSatisfy { $0.isRedelivered })
                #expect(again[0].epoch > held[0].epoch)
                // Void: it belongs to the connection that broke.
                consumer.acknowledge(held)
                consumer.requeue(again)
                _ = try await take(3, from: consumer)
            }
        }
    }

    @Test func `A deleted queue is declared and consumed again`() async throws {
        try await filled(1) { configuration, queue, topology in
            try await withConsumer(configuration, topology, queue: queue) { consumer in
                _ = try await take(1, from: consumer)
                try await AMQPConnection.with(configuration) { connection in
                    try await connection.delete(queue: queue)
                    // RabbitMQ 3.10 tells the consumer nothing, and hands it nothing more, when another connection
                    // declares the queue again within the same moment: so it is the consumer that does.
                    let isBack = try await eventually {
                        (try? await connection.inspect(queue: queue).consumers) == 1
                    }
                    #expect(isBack)
                }
                try await withPublisher(configuration, topology) { publisher in
                    #expect(await codes(publisher, messages(7..<8, to: queue)).isEmpty)
                }
                #expect(try await take(1, from: consumer).map(text) == ["7"])
            }
        }
    }

    @Test func `A cancelled next ends`() async throws {
        try await filled(0) { configuration, queue, topology in
            try await withConsumer(configuration, topology, queue: queue) { consumer in
                let waiting = Task { await consumer.next(limit: 1) }
                waiting.cancel()
                #expect(await waiting.value == nil)
            }
        }
    }

    @Test func `A graceful shutdown gives back what nobody took`() async throws {
        try await filled(10) { configuration, queue, topology in
            let consumer = try AMQPConsumer(
                configuration: configuration, topology: topology, queue: queue, prefetch: 10, logger: quiet)
            try await testGracefulShutdown { trigger in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await consumer.run() }
                    let held = try await take(4, from: consumer, acknowledging: false)
                    trigger.triggerGracefulShutdown()
                    #expect(await consumer.next(limit: 10).map(\.count).map { $0 < 7 } ?? true)
                    consumer.acknowledge(held)
                    try await group.waitForAll()
                }
            }
            #expect(try await AMQPTests.queue(queue, comesToHold: 6))
        }
    }
}
