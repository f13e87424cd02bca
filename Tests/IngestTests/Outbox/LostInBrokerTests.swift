import AMQP
import Domain
import Foundation
import Foundations
import Messaging
import ServiceLifecycle
import StackKit
import TestSupport
import Testing

@testable import Ingest

/// A relay with the real broker, which loses what it was given.
@Suite("OutboxRelay and RabbitMQ", .timeLimit(.minutes(5)))
struct LostInBrokerTests {
    private struct Bench {
        let store: any Store
        let relay: OutboxRelay
        let probe: RabbitMQInspector
        let connection: AMQPConnection
        let queue: String

        /// Takes so many messages out of the queue.
        func take(_ count: Int) async throws -> [NotificationID] {
            var ids: [NotificationID] = []
            while ids.count < count {
                let delivery = try #require(try await connection.get(queue: queue))
                ids.append(try #require(NotificationID(String(decoding: delivery.message.body, as: UTF8.self))))
                try await connection.acknowledge(delivery)
            }
            return ids
        }
    }

    @Test func `What is purged behind its back is published again`() async throws {
        try await withBench { bench in
            let accepted = try await bench.store.accept(2000)
            bench.relay.handOver(accepted)
            try await expectEventually { await bench.probe.readyDispatches() == 2000 }
            try await expectEventually { try await bench.store.backlog(now: .now).count == 0 }
            // All are due. Otherwise those that fall due after the first ones were republished would wait until the
            // queue is empty again.
            let due = Timestamp.now + OutboxTiming.quick.redeliveryDelay
            try await expectEventually { Timestamp.now > due }
            let purged = try await bench.connection.purge(queue: bench.queue)
            #expect(purged == 2000)
            try await expectEventually { await bench.probe.readyDispatches() == 2000 }
            let again = try await bench.take(2000)
            #expect(Set(again) == Set(accepted.map(\.id)))
        }
    }

    @Test func `A queue that nobody takes from is not given its messages twice`() async throws {
        try await withBench { bench in
            let accepted = try await bench.store.accept(3)
            bench.relay.handOver(accepted)
            try await expectEventually { await bench.probe.readyDispatches() == 3 }
            // All are due many times over while nobody comes for them.
            let due = Timestamp.now + OutboxTiming.quick.redeliveryDelay * 5
            try await expectEventually { Timestamp.now > due }
            #expect(await bench.probe.readyDispatches() == 3)
            // Two are settled; a dispatcher comes for all, and is gone with the third before it can claim it.
            try await bench.store.dispatch(accepted[1...2].map(\.id))
            let taken = try await bench.take(3)
            #expect(Set(taken) == Set(accepted.map(\.id)))
            try await expectEventually { await bench.probe.readyDispatches() == 1 }
            #expect(try await bench.take(1) == [accepted[0].id])
        }
    }

    @Test func `A missing queue is unknown and the next question is answered`() async throws {
        try await withBench { bench in
            #expect(await bench.probe.readyDispatches() == 0)
            try await bench.connection.delete(queue: bench.queue)
            #expect(await bench.probe.readyDispatches() == nil)
            #expect(await bench.probe.readyDispatches() == nil)
        }
    }

    private func withBench(_ body: (Bench) async throws -> Void) async throws {
        let configuration = try MessagingConfiguration(
            amqpURL: try TestEnvironment.amqpURL, retryDelays: [.milliseconds(100)], connectionName: "test",
            prefix: "test-\(UUID().uuidString)")
        let publisher = try RabbitMQDispatchPublisher(configuration: configuration, logger: .silent)
        let probe = RabbitMQInspector(configuration: configuration)
        let store = memoryStore()
        let relay = OutboxRelay(
            outbox: store, publisher: publisher, probe: probe, timing: .quick, logger: .silent)
        let connection = try await AMQPConnection.open(configuration.amqp)
        let group = ServiceGroup(services: [publisher, probe, relay], logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            let result: Result<Void, any Error>
            do {
                let isConnected = try await eventually { publisher.isConnected }
                try #require(isConnected)
                let queue = configuration.topology.dispatchQueue
                try await body(
                    Bench(store: store, relay: relay, probe: probe, connection: connection, queue: queue))
                result = .success(())
            } catch { result = .failure(error) }
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
            for queue in configuration.topology.declarations.queues { try? await connection.delete(queue: queue.name) }
            for exchange in configuration.topology.declarations.exchanges {
                try? await connection.delete(exchange: exchange.name)
            }
            await connection.close()
            try result.get()
        }
    }
}
