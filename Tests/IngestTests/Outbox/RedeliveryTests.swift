import Domain
import Foundations
import Logging
import ServiceLifecycle
import Storage
import TestSupport
import Testing

@testable import Ingest

@Suite("OutboxRelay, what the broker has lost", .timeLimit(.minutes(5)))
struct RedeliveryTests {
    private func relay(
        _ outbox: any NotificationWriter, _ publisher: FakePublisher, _ probe: FakeQueueProbe,
        timing: OutboxTiming = .quick,
        now: @escaping @Sendable () -> Timestamp = { .now }
    ) -> OutboxRelay {
        OutboxRelay(
            outbox: outbox, publisher: publisher, probe: probe, timing: timing, now: now, logger: .silent)
    }

    @Test func `What a wiped broker held is published again until it is dispatched`() async throws {
        let (store, publisher, probe) = (memoryStore(), FakePublisher(), FakeQueueProbe())
        let relay = relay(store, publisher, probe)
        try await withRelays([relay]) {
            let accepted = try await store.accept(2500, at: .unswept)
            relay.handOver(accepted)
            try await expectEventually { try await store.backlog(now: .now).count == 0 }
            #expect(publisher.ids.count == 2500)
            probe.set(0)
            try await expectEventually { publisher.ids.count >= 5000 }
            let ids = Set(accepted.map(\.id))
            #expect(Set(publisher.ids.prefix(5000).dropFirst(2500)) == ids)
            try await store.dispatch(Array(ids))
            let left = try await store.leasePublished(
                limit: 9, due: .now + .seconds(3600), now: .now, until: .now + .seconds(3600))
            #expect(left.examined == 0)
        }
    }

    @Test(arguments: [1, 999, 1001, nil])
    func `While the queue is not empty no entry is touched`(_ ready: Int?) async throws {
        let (store, publisher, probe) = (memoryStore(), FakePublisher(), FakeQueueProbe(ready))
        let outbox = CountingOutbox(store)
        let relay = relay(outbox, publisher, probe)
        try await withRelays([relay]) {
            relay.handOver(try await store.accept(5, at: .unswept))
            try await expectEventually { outbox.confirmed.count == 5 }
            // Far more looks than it takes until all are due and a queue could have proved empty.
            let looks = probe.looks
            try await expectEventually { probe.looks >= looks + 60 }
            #expect(outbox.publishedLeases == 0)
            #expect(publisher.ids.count == 5)
            probe.set(0)
            try await expectEventually { publisher.ids.count >= 10 }
        }
    }

    @Test func `What was claimed a moment ago is postponed`() async throws {
        let (store, publisher, probe) = (memoryStore(), FakePublisher(), FakeQueueProbe(0))
        let outbox = CountingOutbox(store)
        let relay = relay(outbox, publisher, probe)
        try await withRelays([relay]) {
            let ids = try await store.accept(3, at: .unswept).map(\.id)
            _ = try await store.claim(ids, now: .now)
            try await store.confirm(ids, until: .now)
            try await expectEventually { outbox.publishedLeases >= 3 }
            #expect(publisher.ids.isEmpty)
        }
        let end = Timestamp.now + OutboxPolicy.attemptLimit
        let postponed = try await store.leasePublished(limit: 9, due: end, now: end, until: end)
        #expect(postponed.entries.count == 3)
    }

    @Test func `An ID that the store refuses holds up no others`() async throws {
        let store = memoryStore()
        let ids = try await store.accept(9, at: .unswept).map(\.id)
        let outbox = CountingOutbox(store, refusing: [ids[3]])
        await relay(outbox, FakePublisher(), FakeQueueProbe()).confirm(ids)
        #expect(Set(ids).subtracting(outbox.confirmed) == [ids[3]])
    }

    @Test func `What is final is never published again`() async throws {
        let (store, publisher, probe) = (memoryStore(), FakePublisher(), FakeQueueProbe())
        let outbox = CountingOutbox(store)
        let relay = relay(outbox, publisher, probe)
        try await withRelays([relay]) {
            let accepted = try await store.accept(50, at: .unswept)
            relay.handOver(accepted)
            try await expectEventually { publisher.ids.count == 50 }
            try await store.dispatch(accepted.map(\.id))
            probe.set(0)
            let leases = outbox.publishedLeases
            try await expectEventually { outbox.publishedLeases >= leases + 30 }
        }
        #expect(publisher.ids.count == 50)
    }

    @Test func `A queue that fills up is given no more for now`() async throws {
        let (store, publisher, probe) = (memoryStore(), FakePublisher(), FakeQueueProbe(0))
        let outbox = CountingOutbox(store)
        let relay = relay(outbox, publisher, probe, timing: .patient)
        let ids = try await store.accept(5000, at: .now - .seconds(60)).map(\.id)
        try await store.confirm(ids, until: .now - .seconds(30))
        try await withRelays([relay]) {
            try await expectEventually { !publisher.ids.isEmpty }
            probe.set(OutboxRelay.Limit.maxReady + 1)
            let looks = probe.looks
            try await expectEventually { probe.looks >= looks + 3 }
            let count = publisher.ids.count
            let later = probe.looks
            try await expectEventually { probe.looks >= later + 3 }
            #expect(publisher.ids.count == count)
            // Dispatchers work it off, and the rest follows though the queue was never empty again.
            probe.set(OutboxRelay.Limit.maxReady)
            try await expectEventually { publisher.ids.count == 5000 }
        }
        #expect(Set(publisher.ids) == Set(ids))
    }

    @Test func `What is not confirmed the second time falls due again`() async throws {
        let (store, publisher, probe) = (memoryStore(), FakePublisher(), FakeQueueProbe(0))
        let relay = relay(store, publisher, probe)
        let ids = try await store.accept(2, at: .now - .seconds(60)).map(\.id)
        try await store.confirm(ids, until: .now)
        publisher.refuse([ids[1]])
        try await withRelays([relay]) {
            try await expectEventually { publisher.ids.filter { $0 == ids[0] }.count >= 2 }
            #expect(!publisher.ids.contains(ids[1]))
            publisher.refuse([])
            try await expectEventually { publisher.ids.contains(ids[1]) }
        }
    }

    @Test func `A dispatched notification costs the outbox no note`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        var timing = OutboxTiming.patient
        timing.confirmDelay = .seconds(3600)
        let relay = relay(store, publisher, FakeQueueProbe(), timing: timing)
        try await withRelays([relay]) {
            let accepted = try await store.accept(10, at: .unswept)
            relay.handOver(accepted)
            try await expectEventually { publisher.ids.count == 10 }
            #expect(try await store.backlog(now: .now).count == 10)
            try await store.dispatch(accepted.map(\.id))
            #expect(try await store.backlog(now: .now).count == 0)
        }
    }

    /// What a process leaves that dies between the broker's confirm and its note: entries that look unpublished.
    @Test func `A process that dies before its note has nothing sent twice`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let accepted = try await store.accept(4, at: .now - .seconds(60))
        _ = try await store.claim([accepted[0].id], now: .now)
        try await store.dispatch([accepted[1].id])
        let relay = relay(store, publisher, FakeQueueProbe(), timing: .patient)
        try await withRelays([relay]) {
            try await expectEventually { try await store.backlog(now: .now).count == 0 }
        }
        #expect(Set(publisher.ids) == Set(accepted[2...3].map(\.id)))
        #expect(publisher.ids.count == 2)
    }
}
