import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct RedeliveryTests {
    private static let until = due + .seconds(60)

    /// Entries that were published, and are due again at ``due``.
    private func publish(_ count: Int, _ store: any Store) async throws -> [NotificationID] {
        let sent = SealedNotification.samples(count)
        try await store.append(sent)
        try await store.confirm(sent.map(\.id), until: due)
        return sent.map(\.id)
    }

    private func lease(
        _ store: any Store, limit: Int = 99, due time: Timestamp = due, now: Timestamp? = nil
    ) async throws -> PublishedLease {
        try await store.leasePublished(limit: limit, due: time, now: now ?? time, until: Self.until)
    }

    @Test(arguments: conformingStores)
    func `A published entry is due when it was said, and again when its lease ends`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample(traceparent: "00-aa-bb-01")
        try await store.append([sent])
        try await store.confirm([sent.id], until: due)
        #expect(try await lease(store, due: due - .milliseconds(1)) == PublishedLease())
        let entry = OutboxEntry(id: sent.id, traceparent: "00-aa-bb-01")
        #expect(try await lease(store) == PublishedLease(entries: [entry], examined: 1))
        #expect(try await lease(store) == PublishedLease())
        #expect(try await lease(store, due: Self.until).entries == [entry])
    }

    @Test(arguments: conformingStores)
    func `Each of the two leases leaves the other's entries alone`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let published = try await publish(2, store)
        let waiting = SealedNotification.sample()
        try await store.append([waiting])
        let far = due + .seconds(86400)
        #expect(try await store.lease(limit: 9, now: due, until: far).map(\.id) == [waiting.id])
        #expect(try await lease(store).entries.map(\.id) == published)
    }

    @Test(arguments: conformingStores)
    func `Confirming again changes nothing`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(1, store)
        try await store.confirm(ids, until: due + .seconds(9))
        #expect(try await lease(store).entries.map(\.id) == ids)
    }

    @Test(arguments: conformingStores)
    func `The oldest come first, up to the limit`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(5)
        try await store.append(sent)
        for (index, one) in sent.enumerated() {
            try await store.confirm([one.id], until: due - .seconds(index))
        }
        let ids = sent.map(\.id)
        #expect(try await lease(store, limit: 2).entries.map(\.id) == [ids[4], ids[3]])
        #expect(try await lease(store, limit: 0) == PublishedLease())
        #expect(try await lease(store).entries.map(\.id) == [ids[2], ids[1], ids[0]])
    }

    @Test(arguments: conformingStores)
    func `What a dispatcher is at work on is postponed until it must be over`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(2, store)
        let claim = due - OutboxPolicy.attemptLimit + .milliseconds(1)
        _ = try await store.claim([ids[0]], now: claim)
        let first = try await lease(store)
        #expect(first.entries.map(\.id) == [ids[1]] && first.examined == 2)
        let end = claim + OutboxPolicy.attemptLimit
        #expect(try await lease(store, due: end - .milliseconds(1)) == PublishedLease())
        #expect(try await lease(store, due: end).entries.map(\.id) == [ids[0]])
    }

    @Test(arguments: conformingStores)
    func `A claim whose time is over is not waited for`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(1, store)
        _ = try await store.claim(ids, now: due - OutboxPolicy.attemptLimit)
        #expect(try await lease(store).entries.map(\.id) == ids)
    }

    @Test(arguments: conformingStores)
    func `A claim by a clock that is ahead counts as made just now`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(1, store)
        _ = try await store.claim(ids, now: due + .seconds(600))
        #expect(try await lease(store).entries.isEmpty)
        let end = due + .seconds(600) + OutboxPolicy.attemptLimit
        #expect(try await lease(store, due: due + OutboxPolicy.attemptLimit).examined == 1)
        #expect(try await lease(store, due: end).entries.map(\.id) == ids)
    }

    @Test(arguments: conformingStores)
    func `An unpublished entry that was claimed had been published`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await store.appendClaimed(at: due)
        #expect(try await store.lease(limit: 9, now: due, until: Self.until).isEmpty)
        #expect(try await store.backlog(now: due).count == 0)
        let end = due + OutboxPolicy.attemptLimit
        #expect(try await lease(store, due: end).entries.map(\.id) == [sent.id])
    }

    @Test(arguments: conformingStores)
    func `A final outcome takes the entry out, whether it was published or not`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(2, store)
        let waiting = SealedNotification.sample()
        try await store.append([waiting])
        _ = try await store.claim(ids + [waiting.id], now: noon)
        try await store.record(
            [ids[0], waiting.id].map { id in
                DispatchOutcome(id: id, attempt: 1, deliveries: [.sample(.apple, .sent), .sample(.windows, .dead)])
            })
        #expect(try await store.backlog(now: due).count == 0)
        #expect(try await lease(store).entries.map(\.id) == [ids[1]])
        #expect(try await store.lease(limit: 9, now: Self.until, until: Self.until).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `What is to be tried again is due a while after its next try`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await store.appendClaimed(.sample(traceparent: "00-aa-bb-01"))
        let outcome = DispatchOutcome(
            id: sent.id, attempt: 1, deliveries: [.sample(.apple, .retrying)], nextTry: due)
        try await store.record([outcome])
        #expect(try await store.backlog(now: due).count == 0)
        let again = due + OutboxPolicy.redelivery
        // What the relay notes late must not bring it forward.
        try await store.confirm([sent.id], until: due)
        #expect(try await lease(store, due: again - .milliseconds(1)) == PublishedLease())
        let entry = OutboxEntry(id: sent.id, traceparent: "00-aa-bb-01")
        #expect(try await lease(store, due: again).entries == [entry])
    }

    @Test(arguments: conformingStores)
    func `An entry that is not there is made for what is to be tried again`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.sample(traceparent: "00-aa-bb-01")
        try await test.store.append([sent])
        try await test.execute("DELETE FROM outbox")
        _ = try await test.store.claim([sent.id], now: noon)
        let outcome = DispatchOutcome(
            id: sent.id, attempt: 1, deliveries: [.sample(.apple, .retrying)], nextTry: noon)
        try await test.store.record([outcome])
        let entry = OutboxEntry(id: sent.id, traceparent: "00-aa-bb-01")
        #expect(try await lease(test.store).entries == [entry])
    }

    @Test(arguments: conformingStores)
    func `An outcome that leaves something owed without a next try leaves the entry`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(1, store)
        _ = try await store.claim(ids, now: noon)
        let deliveries: [Delivery] = [.sample(.apple, .sent), .sample(.windows, .retrying)]
        try await store.record([DispatchOutcome(id: ids[0], attempt: 1, deliveries: deliveries)])
        #expect(try await lease(store).entries.map(\.id) == ids)
    }

    @Test(arguments: conformingStores)
    func `An outcome that is fenced off leaves the entry`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(1, store)
        for _ in 0..<2 { _ = try await store.claim(ids, now: noon) }
        let sent: [Delivery] = [.sample(.apple, .sent)]
        try await store.record([
            DispatchOutcome(id: ids[0], attempt: 1, deliveries: sent),
            DispatchOutcome(id: ids[0], attempt: 1, deliveries: sent, nextTry: due),
        ])
        #expect(try await lease(store).entries.map(\.id) == ids)
    }

    @Test(arguments: conformingStores)
    func `An entry of what is final, left behind by an earlier version, goes unleased`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let ids = try await publish(2, test.store)
        let waiting = SealedNotification.sample()
        try await test.store.append([waiting])
        try await test.execute("UPDATE notifications SET status = 2")
        #expect(try await lease(test.store) == PublishedLease(examined: ids.count))
        #expect(try await lease(test.store) == PublishedLease())
        #expect(try await test.store.lease(limit: 9, now: due, until: due).isEmpty)
        #expect(try await test.store.backlog(now: due).count == 0)
    }

    @Test(arguments: conformingStores)
    func `Expired and revoked ones: the first is leased, the second gone`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(2, store)
        _ = try await store.revoke(ids[0], sender: "tests", now: noon)
        let late = due + .seconds(7200)
        #expect(try await lease(store, due: late).entries.map(\.id) == [ids[1]])
    }

    @Test(arguments: conformingStores)
    func `A reopened notification is due a while after`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(1, store)
        _ = try await store.claim(ids, now: noon)
        try await store.record([DispatchOutcome(id: ids[0], attempt: 1, deliveries: [.sample(.apple, .dead)])])
        #expect(try await lease(store) == PublishedLease())
        _ = try await store.reopen([ids[0]: [.apple]], now: due)
        let again = due + OutboxPolicy.redelivery
        #expect(try await lease(store, due: again - .milliseconds(1)) == PublishedLease())
        #expect(try await lease(store, due: again).entries.map(\.id) == ids)
    }

    @Test(arguments: conformingStores)
    func `Concurrent leases never overlap and leave nothing out`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await publish(300, store)
        let leased = try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    var mine: [NotificationID] = []
                    while true {
                        let lease = try await lease(store, limit: 7)
                        if lease.examined == 0 { return mine }
                        mine += lease.entries.map(\.id)
                    }
                }
            }
            return try await group.reduce(into: [NotificationID]()) { $0 += $1 }
        }
        #expect(leased.sorted() == ids.sorted())
    }
}
