import Domain
import Foundations
import TestSupport
import Testing

@testable import Ingest

@Suite("The sweep: withdrawals and reminders")
struct FollowUpSweepTests {
    @Test func `What is due is published with its kind`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let sent = try await store.accept(2, at: .unswept).map(\.id)
        try await store.dispatch(sent)
        for id in sent { _ = try await store.revoke(id, sender: "clinic", now: .now) }
        try await withRelay(store, publisher, .sweeping) { _ in
            try await expectEventually { publisher.record.followUps.count == 2 }
        }
        #expect(Set(publisher.record.followUps) == Set(sent.map { FollowUp(id: $0, kind: .withdrawal) }))
        #expect(publisher.record.published.allSatisfy { $0.route == .dispatch })
    }

    @Test func `A follow-up is published once until it has waited for its claim`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher())
        let sent = try await store.accept(1, at: .unswept).map(\.id)
        try await store.dispatch(sent)
        _ = try await store.revoke(sent[0], sender: "clinic", now: .now)
        let outbox = CountingOutbox(store)
        try await withRelay(outbox, publisher, .sweeping) { _ in
            try await expectEventually { publisher.record.followUps.count == 1 }
            let leases = outbox.leases
            try await expectEventually { outbox.leases >= leases + 4 }
        }
        #expect(publisher.record.followUps.count == 1)
        // It is nothing that the outbox has to confirm.
        #expect(outbox.confirmed.isEmpty)
    }

    @Test func `Nothing is leased without the broker`() async throws {
        let (store, publisher) = (memoryStore(), FakePublisher(isConnected: false))
        let sent = try await store.accept(1, at: .unswept).map(\.id)
        try await store.dispatch(sent)
        _ = try await store.revoke(sent[0], sender: "clinic", now: .now)
        try await withRelay(store, publisher, .sweeping) { _ in
            try await expectEventually { publisher.record.looks >= 4 }
        }
        #expect(try await store.leaseFollowUps(limit: 9, now: .now).count == 1)
    }
}

extension OutboxTiming {
    /// As ``patient``, and the sweep looks often.
    fileprivate static let sweeping: OutboxTiming = {
        var timing = patient
        (timing.sweepInterval, timing.followUpInterval) = (.milliseconds(5), .milliseconds(5))
        return timing
    }()
}
