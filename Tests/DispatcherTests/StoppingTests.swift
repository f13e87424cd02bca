import Domain
import Foundations
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// The end of a dispatcher whose hub, store or broker does not answer.
@Suite struct StoppingTests {
    let bench = DispatchBench()

    /// A hub that never answers on one platform; a stop ends what it has not answered, if it hears of it at all.
    private final class SilentGateway: PushGateway {
        private struct State {
            var waiting: [@Sendable (SendOutcome) -> Void] = []
            var stops: [Duration] = []
        }

        private let state = Mutex(State())
        let hearsStops: Bool

        init(hearsStops: Bool = true) { self.hearsStops = hearsStops }

        var waiting: Int { state.withLock { $0.waiting.count } }
        var stops: [Duration] { state.withLock { $0.stops } }

        func send(
            _ notification: HubNotification, trace: PushTrace?, completion: @escaping @Sendable (SendOutcome) -> Void
        ) {
            guard notification.platform == .windows else { return completion(.sent(hubMessageID: nil)) }
            state.withLock { $0.waiting.append(completion) }
        }

        func stop(within duration: Duration) {
            let waiting = state.withLock { state in
                state.stops.append(duration)
                guard hearsStops else { return [@Sendable (SendOutcome) -> Void]() }
                defer { state.waiting = [] }
                return state.waiting
            }
            for completion in waiting { completion(.unanswered(reason: "the sender is shutting down")) }
        }
    }

    /// Counts the tries of a store that is away.
    private final class AwayLedger: ForwardingStore {
        let base: any Store
        private let count = Mutex(0)

        init(_ base: any Store) { self.base = base }

        var records: Int { count.withLock { $0 } }

        func enter(_ ids: [NotificationID], now: Timestamp) async throws {}

        func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
            count.withLock { $0 += 1 }
            throw StorageError(.unavailable, "away for the test")
        }
    }

    private func pipeline(
        _ gateway: any PushGateway, ledger: (any DispatchStore)? = nil, concurrency: Int = 512
    ) -> DispatchPipeline {
        bench.with {
            $0.ledger = ledger
            $0.lanes = LaneSettings(platforms: bench.policy.platforms, concurrency: concurrency)
        }.pipeline(gateway)
    }

    @Test func `What the other platforms took is recorded`() async throws {
        let gateway = SilentGateway()
        let id = try await bench.stored()
        let pipeline = pipeline(gateway)
        try await bench.run(pipeline) {
            bench.broker.deliver(DispatchMessage(id: id))
            try await expectEventually { gateway.waiting == 1 }
            pipeline.drain()
        }
        #expect(gateway.stops.first == .seconds(5))
        let deliveries = try await bench.deliveries(id)
        #expect(deliveries[.apple]?.state == .sent && deliveries[.fcmv1]?.state == .sent)
        #expect(deliveries[.windows]?.state == .retrying && deliveries[.windows]?.unanswered == 1)
        // With time left for the broker's confirm a retry is published; otherwise the delivery is given back.
        let record = bench.broker.record
        #expect(record.acknowledged + record.requeued == [1])
        let retried: [[Platform]?] = record.requeued.isEmpty ? [[.windows]] : []
        #expect(record.published.map(\.message.platforms) == retried)
    }

    /// The intake waits for room that only the hub can make, while the consumer is told to stop.
    @Test func `An intake that waits for room hears of the stop`() async throws {
        let gateway = SilentGateway(hearsStops: false)
        let ids = try await bench.stored(10)
        let pipeline = pipeline(gateway, concurrency: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline.run() }
            for id in ids { bench.broker.deliver(DispatchMessage(id: id)) }
            try await expectEventually { gateway.waiting == 1 }
            pipeline.drain()
            // All but the one that waits for the hub: settled, or given back.
            try await expectEventually {
                let record = bench.broker.record
                return Set(record.acknowledged + record.requeued).count == 9
            }
            #expect(gateway.waiting == 1)
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `A cancelled pipeline returns though the hub never answers`() async throws {
        let gateway = SilentGateway(hearsStops: false)
        let pipeline = pipeline(gateway)
        let id = try await bench.stored()
        let running = Task { try await pipeline.run() }
        bench.broker.deliver(DispatchMessage(id: id))
        try await expectEventually { gateway.waiting == 1 }
        running.cancel()
        try await running.value
        #expect(bench.broker.record.acknowledged.isEmpty)
    }

    @Test func `A cancelled recording is not tried over`() async throws {
        let ledger = AwayLedger(bench.store)
        let pipeline = pipeline(FakeGateway(), ledger: ledger)
        let id = try await bench.stored()
        let running = Task { try await pipeline.run() }
        bench.broker.deliver(DispatchMessage(id: id))
        try await expectEventually { ledger.records > 0 }
        running.cancel()
        try await running.value
        // The tries before the cancellation, each after a longer wait, and one at most that it met.
        #expect(ledger.records < 20)
        #expect(bench.broker.record.requeued == [1])
    }

    @Test func `Waiting for room ends with the drain and with cancellation`() async throws {
        let settler = pipeline(FakeGateway()).settler
        let delivery = DispatchDelivery(tag: 1, epoch: 1, message: DispatchMessage(id: NotificationID()))
        #expect(settler.admit(delivery))
        let waiting = Task { await settler.waitUntilInFlight(atMost: 0) }
        await Task.yield()
        waiting.cancel()
        await waiting.value
        async let another: Void = settler.waitUntilInFlight(atMost: 0)
        await Task.yield()
        settler.drain()
        await another
        await settler.waitUntilInFlight(atMost: 0)
    }
}
