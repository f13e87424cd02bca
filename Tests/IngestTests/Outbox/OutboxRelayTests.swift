import Domain
import Foundations
import Logging
import ServiceLifecycle
import ServiceRuntime
import StackKit
import TestSupport
import Testing

@testable import Ingest

@Suite("OutboxRelay")
struct OutboxRelayTests {
    @Test func `What is handed over is published and noted`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let notifications = try await store.accept(1300, at: .unswept)
        try await withRelay(store, publisher) { relay in
            relay.handOver(notifications)
            try await store.expectWaiting(0)
        }
        #expect(publisher.ids == notifications.map(\.id))
        #expect(publisher.record.published.allSatisfy { $0.route == .dispatch })
    }

    @Test func `What is not confirmed stays`() async throws {
        let store = memoryStore()
        let notifications = try await store.accept(3, at: .unswept)
        let publisher = FakePublisher(refused: [notifications[1].id])
        try await withRelay(store, publisher) { relay in
            relay.handOver(notifications)
            try await store.expectWaiting(1)
        }
        #expect(publisher.ids == [notifications[0].id, notifications[2].id])
        let left = try await store.lease(limit: 10, now: .now + .seconds(3600), until: .now + .seconds(7200))
        #expect(left.map(\.id) == [notifications[1].id])
    }

    @Test func `What a crash left is swept`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let notifications = try await store.accept(2500, at: .now - .seconds(60))
        try await withRelay(store, publisher) { _ in
            try await store.expectWaiting(0)
        }
        #expect(Set(publisher.ids) == Set(notifications.map(\.id)))
        #expect(publisher.ids.count == notifications.count)
    }

    @Test func `What has a NotBefore is left to the sweep`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let notBefore = Timestamp.now + .milliseconds(300)
        let held = try await store.accept(1, notBefore: notBefore)
        let free = try await store.accept(1, at: .unswept)
        try await withRelay(store, publisher) { relay in
            relay.handOver(held + free)
            try await store.expectWaiting(0)
        }
        // On a busy machine, the time comes before the other one is published.
        #expect(publisher.ids.count == 2 && publisher.ids.contains(free[0].id))
        let releasedAt = try #require(publisher.record.published.first { $0.id == held[0].id }?.at)
        #expect(releasedAt >= notBefore)
        // Promised within a second: by two looks in that time, for a clock would measure how busy the machine is.
        #expect(OutboxTiming.standard.sweepInterval * 2 <= .seconds(1))
    }

    @Test func `Nothing is leased without the broker`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher(isConnected: false))
        let old = try await store.accept(2, at: .now - .seconds(60))
        let outbox = CountingOutbox(store)
        try await withRelay(outbox, publisher) { relay in
            relay.handOver(old)
            // One look is the hand-over's, the others are the sweep's.
            try await expectEventually { publisher.record.looks >= 3 }
            #expect(outbox.leases == 0)
            #expect(publisher.ids.isEmpty)
            publisher.connect()
            try await store.expectWaiting(0)
        }
        #expect(outbox.leases > 0)
        #expect(publisher.ids.count == 2)
    }

    @Test func `An alarm or an outage leaves entries alone and they go out afterwards`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let outbox = CountingOutbox(store)
        try await withRelay(outbox, publisher) { relay in
            relay.handOver(try await store.accept(10, at: .unswept))
            try await store.expectWaiting(0)
            // A publisher is not connected either while the broker's alarm blocks it.
            for _ in 0..<3 {
                publisher.connect(false)
                let leases = outbox.leases
                let looks = publisher.record.looks
                relay.handOver(try await store.accept(5, at: .now - .seconds(60)))
                try await expectEventually { publisher.record.looks >= looks + 4 }
                // One may have been under way.
                #expect(outbox.leases <= leases + 1)
                publisher.connect()
                try await store.expectWaiting(0)
            }
        }
        #expect(publisher.ids.count == 25)
        #expect(Set(publisher.ids).count == 25)
    }

    @Test func `The backlog is known while the broker is away`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher(isConnected: false))
        let start = Timestamp.now - .seconds(60)
        _ = try await store.accept(3, at: start)
        try await withRelay(store, publisher) { relay in
            try await expectEventually { relay.backlog == OutboxBacklog(count: 3, oldest: start) }
            let figures = try #require(relay.readinessDetail.figures())
            #expect(figures.map(\.name) == ["pending", "oldest_age_seconds"])
            #expect(figures[0].value == 3 && figures[1].value >= 60)
        }
    }

    @Test func `A shutdown publishes what is in memory`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher(isHolding: true))
        // More than the groups in flight take at once.
        let notifications = try await store.accept(6000, at: .unswept)
        let relay = OutboxRelay(outbox: store, publisher: publisher, probe: FakeQueueProbe(), logger: .silent)
        relay.handOver(notifications)
        let group = ServiceGroup(services: [relay], logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            await group.triggerGracefulShutdown()
            publisher.release()
            try await tasks.waitForAll()
        }
        #expect(publisher.ids.count == 6000)
        #expect(Set(publisher.ids) == Set(notifications.map(\.id)))
        #expect(try await store.waiting == 0)
    }
}

extension Store {
    /// How many entries wait to be published.
    fileprivate var waiting: Int {
        get async throws { try await backlog(now: .now).count }
    }

    /// Expects that so many entries come to wait.
    fileprivate func expectWaiting(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let settles = try await eventually { try await self.waiting == count }
        #expect(settles, sourceLocation: sourceLocation)
    }
}
