import AMQP
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Messaging

/// How long a question may take, with a broker in memory.
@Suite("Readings of slow queues", .timeLimit(.minutes(5)))
struct SlowQueueReadingsTests {
    /// A broker that needs some time of a clock for each answer. Only it moves the clock. It may be silent at first.
    private final class SlowBroker: QueueInspector {
        private let delay: Duration
        private let time = Mutex(ContinuousClock.now)
        private let inspected = Mutex<[String]>([])
        private let (silence, end) = AsyncStream<Void>.makeStream()

        /// - Parameter delay: of each answer.
        init(delay: Duration = .zero, isSilent: Bool = false) {
            self.delay = delay
            if !isSilent { end.finish() }
        }

        var now: ContinuousClock.Instant { time.withLock { $0 } }
        /// The queues that were asked.
        var asked: [String] { inspected.withLock { $0 } }
        /// Ends the silence.
        func speak() { end.finish() }

        var isOpen: Bool { true }

        func inspect(queue: String) async throws(AMQPError) -> AMQPQueueStatus {
            inspected.withLock { $0.append(queue) }
            for await _ in silence {}
            time.withLock { $0 += delay }
            return AMQPQueueStatus(messages: 1, consumers: 0)
        }

        func close() async {}
    }

    /// Five delays make seven queues.
    private static let topology = DispatchTopology(retryDelays: (1...5).map { .seconds($0) })

    private func makeReadings(_ broker: SlowBroker) -> RabbitMQInspector {
        RabbitMQInspector(topology: Self.topology, now: { broker.now }, connect: { broker })
    }

    @Test func `All who ask at once share one connection`() async throws {
        let (broker, counted) = (SlowBroker(), Counted())
        let (gate, opened) = AsyncStream<Void>.makeStream()
        let inspector = RabbitMQInspector(topology: Self.topology) {
            counted.connects.add(1, ordering: .relaxed)
            for await _ in gate {}
            return broker
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    counted.callers.add(1, ordering: .relaxed)
                    #expect(await inspector.readyDispatches() == 1)
                }
            }
            group.addTask { _ = try await inspector.queues() }
            let haveAsked = try await eventually {
                counted.callers.load(ordering: .relaxed) == 20 && inspector.waitingCount == 1
                    && counted.connects.load(ordering: .relaxed) > 0
            }
            #expect(haveAsked)
            opened.finish()
            try await group.waitForAll()
        }
        #expect(counted.connects.load(ordering: .relaxed) == 1)
    }

    private final class Counted: Sendable {
        let connects = Atomic(0)
        let callers = Atomic(0)
    }

    @Test func `All queues have one deadline`() async throws {
        let slow = SlowBroker(delay: .milliseconds(1900))
        let readings = makeReadings(slow)
        let error = await #expect(throws: AMQPError.self) { try await readings.queues() }
        #expect(error?.code == .timeout)
        #expect(slow.asked.count == 2)

        let quick = SlowBroker(delay: .milliseconds(400))
        #expect(try await makeReadings(quick).queues().count == 7)
    }

    @Test func `Whoever is cancelled does not wait for the broker`() async throws {
        let broker = SlowBroker(isSilent: true)
        let readings = makeReadings(broker)
        let impatient = Task { try await readings.queues() }
        let patient = Task { try await readings.queues() }
        try await expectEventually { readings.waitingCount == 2 }
        impatient.cancel()
        await #expect(throws: CancellationError.self) { try await impatient.value }
        #expect(readings.waitingCount == 1)
        broker.speak()
        #expect(try await patient.value.count == 7)
        #expect(broker.asked.count == 7)
    }

    @Test func `Whoever is cancelled before does not wait at all`() async throws {
        let broker = SlowBroker(isSilent: true)
        let readings = makeReadings(broker)
        await withTaskGroup { group in
            group.addTask { await #expect(throws: CancellationError.self) { try await readings.queues() } }
            group.cancelAll()
        }
        broker.speak()
        #expect(try await readings.queues().count == 7)
    }
}
