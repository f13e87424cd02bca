import Domain
import Foundations
import ServiceLifecycle
import StackKit
import TestSupport
import Testing

@testable import Ingest

@Suite("OutboxRelay, what was scheduled", .timeLimit(.minutes(5)))
struct ScheduledBacklogTests {
    @Test func `What falls due together is leased while confirms are awaited`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher(isHolding: true))
        let ids = try await store.schedule(5200, notBefore: .now)
        let outbox = CountingOutbox(store)
        try await withRelay(outbox, publisher) { _ in
            let overlaps = try await eventually { outbox.leases == OutboxRelay.Limit.maxSweepsInFlight }
            #expect(overlaps)
            #expect(publisher.ids.isEmpty)
            publisher.release()
            let isDone = try await eventually { try await store.backlog(now: .now).count == 0 }
            #expect(isDone)
        }
        #expect(publisher.ids.count == ids.count)
        #expect(Set(publisher.ids) == Set(ids))
    }

    @Test func `A broker that refuses everything is not given the whole backlog`() async throws {
        let store = memoryStore()
        let ids = try await store.schedule(12_000, notBefore: .now)
        let publisher = FakePublisher(refused: Set(ids))
        let outbox = CountingOutbox(store)
        let start = ContinuousClock.now
        try await withRelay(outbox, publisher) { _ in
            let goesOn = try await eventually { outbox.leases >= OutboxRelay.Limit.maxSweepsInFlight + 3 }
            #expect(goesOn)
        }
        // Past the groups in flight, each lease waits for an interval.
        #expect(ContinuousClock.now - start >= OutboxTiming.standard.sweepInterval * 2)
        #expect(try await store.backlog(now: .now).count == ids.count)
    }

    @Test func `A revoked notification is not published when its time comes`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let ids = try await store.schedule(3, notBefore: .now + .milliseconds(50))
        _ = try await store.revoke(ids[1], sender: "clinic", now: .now)
        try await withRelay(store, publisher) { _ in
            let isDone = try await eventually { try await store.backlog(now: .now).count == 0 }
            #expect(isDone)
        }
        #expect(Set(publisher.ids) == [ids[0], ids[2]])
    }
}

extension Store {
    /// Stores notifications that were made a minute ago and are not to be sent before a time.
    fileprivate func schedule(_ count: Int, notBefore: Timestamp) async throws -> [NotificationID] {
        let sealed = try sampleNotifications(count, at: .now - .seconds(60), notBefore: notBefore)
        try await append(sealed)
        return sealed.map(\.notification.id)
    }
}
