import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct OutboxTests {
    @Test(arguments: conformingStores)
    func `An entry is leased once its grace time is over, and not before`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample(traceparent: "00-aa-bb-01")
        try await store.append([sent])
        let dueAt = noon + OutboxPolicy.grace
        #expect(try await store.lease(limit: 10, now: dueAt - .milliseconds(1), until: due).isEmpty)
        let entries = try await store.lease(limit: 10, now: dueAt, until: due)
        #expect(entries == [OutboxEntry(id: sent.id, traceparent: "00-aa-bb-01")])
    }

    @Test(arguments: conformingStores)
    func `NotBefore puts an entry off`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let later = noon + .seconds(600)
        let sent = SealedNotification.sample(notBefore: later)
        try await store.append([sent])
        #expect(try await store.lease(limit: 1, now: later - .milliseconds(1), until: due).isEmpty)
        #expect(try await store.backlog(now: later - .milliseconds(1)) == OutboxBacklog(count: 1, oldest: nil))
        #expect(try await store.lease(limit: 1, now: later, until: due).map(\.id) == [sent.id])
    }

    @Test(arguments: conformingStores)
    func `The oldest come first, up to the limit`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(5)
        try await store.append(sent.reversed())
        let until = due + .seconds(60)
        #expect(try await store.lease(limit: 2, now: due, until: until).map(\.id) == sent[0...1].map(\.id))
        #expect(try await store.lease(limit: 0, now: due, until: until).isEmpty)
        #expect(try await store.lease(limit: 9, now: due, until: until).map(\.id) == sent[2...4].map(\.id))
        #expect(try await store.lease(limit: 9, now: due, until: until).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A lease that ends unfinished makes its entries due again`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        let until = due + .seconds(60)
        #expect(try await store.lease(limit: 9, now: due, until: until).count == 2)
        try await store.confirm([sent[0].id], until: until)
        #expect(try await store.lease(limit: 9, now: until - .milliseconds(1), until: until).isEmpty)
        #expect(try await store.lease(limit: 9, now: until, until: until + .seconds(1)).map(\.id) == [sent[1].id])
    }

    @Test(arguments: conformingStores)
    func `Expired notifications are leased too`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        let later = sent.notification.expiresAt + .seconds(1)
        #expect(try await store.lease(limit: 1, now: later, until: later).count == 1)
    }

    @Test(arguments: conformingStores)
    func `What was confirmed waits no more, and what is unknown is ignored`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(3)
        try await store.append(sent)
        try await store.confirm([sent[1].id, NotificationID(), sent[1].id], until: due)
        #expect(try await store.backlog(now: due).count == 2)
        #expect(try await store.lease(limit: 9, now: due, until: due).map(\.id) == [sent[0].id, sent[2].id])
        #expect(try await store.find(sent[1].id, recipient: .alice) != nil)
    }

    @Test(arguments: conformingStores)
    func `The backlog counts all and names the oldest that is due`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        #expect(try await store.backlog(now: due) == OutboxBacklog(count: 0, oldest: nil))
        try await store.append(SealedNotification.samples(3).reversed())
        #expect(try await store.backlog(now: noon) == OutboxBacklog(count: 3, oldest: nil))
        #expect(try await store.backlog(now: due) == OutboxBacklog(count: 3, oldest: noon))
        _ = try await store.lease(limit: 1, now: due, until: due + .seconds(1))
        #expect(try await store.backlog(now: due) == OutboxBacklog(count: 3, oldest: noon))
    }

    @Test(arguments: conformingStores)
    func `What is leased again and again and never confirmed counts in the backlog`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let scheduled = due + .seconds(100)
        let later = SealedNotification.sample(expiresAt: due + .seconds(9999), notBefore: scheduled)
        let sent = SealedNotification.samples(2)[1]
        try await store.append([later, sent])
        for round in 0..<5 {
            let now = due + .seconds(round * 15)
            #expect(try await store.lease(limit: 9, now: now, until: now + .seconds(15)).map(\.id) == [sent.id])
            for seconds in [0, 7, 14] {
                let backlog = try await store.backlog(now: now + .seconds(seconds))
                #expect(backlog == OutboxBacklog(count: 2, oldest: noon + .seconds(1)))
            }
        }
        try await store.confirm([sent.id], until: due + .seconds(9999))
        #expect(try await store.backlog(now: due) == OutboxBacklog(count: 1, oldest: nil))
        // A scheduled one counts from its time on, whether it is leased or not.
        #expect(try await store.backlog(now: scheduled) == OutboxBacklog(count: 1, oldest: scheduled))
        _ = try await store.lease(limit: 9, now: scheduled, until: scheduled + .seconds(15))
        let backlog = try await store.backlog(now: scheduled + .seconds(1))
        #expect(backlog == OutboxBacklog(count: 1, oldest: scheduled))
    }

    @Test(arguments: conformingStores)
    func `What waits for a time of its own counts from that time on`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await store.appendClaimed()
        let retrying = [Delivery.sample(.apple, .retrying)]
        let again = due + .seconds(60)
        try await store.record([
            DispatchOutcome(id: sent.id, attempt: 1, deliveries: retrying, dueAgain: again)
        ])
        #expect(try await store.backlog(now: due).oldest == nil)
        #expect(try await store.backlog(now: again).oldest == noon)
        _ = try await store.lease(limit: 9, now: again, until: again + .seconds(15))
        #expect(try await store.backlog(now: again + .seconds(1)).oldest == noon)
    }

    @Test(arguments: conformingStores)
    func `Concurrent leases never overlap and leave nothing out`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(300)
        try await store.append(sent)
        let leased = try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    var mine: [NotificationID] = []
                    while true {
                        let entries = try await store.lease(limit: 7, now: due, until: due + .seconds(60))
                        if entries.isEmpty { return mine }
                        mine += entries.map(\.id)
                    }
                }
            }
            return try await group.reduce(into: [NotificationID]()) { $0 += $1 }
        }
        #expect(leased.sorted() == sent.map(\.id).sorted())
    }
}
