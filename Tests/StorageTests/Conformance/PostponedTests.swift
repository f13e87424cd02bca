import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct PostponedTests {
    private static let slot = noon + .seconds(1005)

    /// A notification that was published, claimed and postponed to ``slot``.
    private func postpone(_ store: any Store) async throws -> NotificationID {
        let sent = try await store.appendClaimed(at: due)
        let waiting = Delivery(platform: .apple, state: .pending, updatedAt: due, silentSequence: 3)
        let outcome = DispatchOutcome(id: sent.id, attempt: 1, deliveries: [waiting], dueAgain: Self.slot)
        #expect(try await store.record([outcome]).isEmpty)
        return sent.id
    }

    @Test(arguments: conformingStores)
    func `It is due at its time and not before, although it was claimed a moment ago`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await postpone(store)
        let until = Self.slot + .seconds(15)
        #expect(try await store.lease(limit: 9, now: Self.slot - .milliseconds(1), until: until).isEmpty)
        #expect(try await store.backlog(now: Self.slot).count == 1)
        let leased = try await store.lease(limit: 9, now: Self.slot, until: until)
        #expect(leased.map(\.id) == [id])
        #expect(try await store.lease(limit: 9, now: Self.slot, until: until).isEmpty)
        let plan = try await store.claim([id], now: Self.slot)[id]
        #expect(plan?.attempt == 2 && plan?.unrecordedClaims == 0)
        #expect(plan?.deliveries.map(\.silentSequence) == [3])
    }

    @Test(arguments: conformingStores)
    func `A confirm of its last publish that comes late changes nothing`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await postpone(store)
        let far = Self.slot + .seconds(600)
        try await store.confirm([id], until: far)
        let published = try await store.leasePublished(limit: 9, due: far, now: Self.slot, until: far)
        #expect(published == PublishedLease())
        #expect(try await store.lease(limit: 9, now: Self.slot, until: far).map(\.id) == [id])
        // From here on it is an entry like any other.
        try await store.confirm([id], until: far)
        #expect(try await store.backlog(now: far).count == 0)
    }

    @Test(arguments: conformingStores)
    func `An outcome of an earlier claim does not postpone`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        for _ in 1...2 { _ = try await store.claim([sent.id], now: due) }
        let late = DispatchOutcome(id: sent.id, attempt: 1, deliveries: [], dueAgain: Self.slot)
        #expect(try await store.record([late]) == [sent.id])
    }

    @Test(arguments: conformingStores)
    func `One call stores what waits and what is done`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        _ = try await store.claim(sent.map(\.id), now: due)
        let done = Delivery.sample(.apple, .sent)
        let waiting = Delivery(platform: .apple, state: .pending, updatedAt: noon)
        let fenced = try await store.record([
            DispatchOutcome(id: sent[0].id, attempt: 1, deliveries: [waiting], dueAgain: Self.slot),
            DispatchOutcome(id: sent[1].id, attempt: 1, deliveries: [done]),
        ])
        #expect(fenced.isEmpty)
        let leased = try await store.lease(limit: 9, now: Self.slot, until: Self.slot)
        #expect(leased.map(\.id) == [sent[0].id])
        let statuses = try await store.records(sent.map(\.id)).mapValues(\.dispatchStatus)
        #expect(statuses == [sent[0].id: .queued, sent[1].id: .dispatched])
    }
}
