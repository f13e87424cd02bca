import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct AllNotificationsTests {
    /// Stores samples a second apart and records deliveries of some.
    private func fill(_ store: any Store) async throws -> [SealedNotification] {
        var sent = SealedNotification.samples(6)
        for index in sent.indices where index >= 3 { sent[index].notification.recipient = .bob }
        sent[5].notification.sender = "others"
        try await store.append(sent)
        let outcomes: [(Int, [Delivery])] = [
            (0, [.sample(.apple, .sent), .sample(.windows, .dead)]), (1, [.sample(.apple, .dead)]),
            (2, [.sample(.apple, .sent)]), (3, [.sample(.apple, .dead)]),
        ]
        for (index, deliveries) in outcomes {
            let attempt = try await store.claim([sent[index].id], now: noon)[sent[index].id]?.attempt ?? 0
            try await store.record([DispatchOutcome(id: sent[index].id, attempt: attempt, deliveries: deliveries)])
        }
        try await store.confirm([sent[4].id], until: due)
        try await store.markRead(sent[2].id, at: noon + .seconds(20))
        try await store.markShown(sent[0].id, at: noon + .seconds(21))
        _ = try await store.revoke(sent[3].id, sender: "tests", now: noon + .seconds(22))
        return sent
    }

    @Test(arguments: conformingStores)
    func `A census counts what became of the newest`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        #expect(try await store.census(since: noon, now: noon) == NotificationCensus())
        let sent = try await fill(store)
        let census = try await store.census(since: noon, now: noon + .seconds(30))
        #expect(census.accepted == 6 && !census.isCut)
        // The last one still waits to be published.
        #expect(census.published == 5)
        #expect(census.pushed == 2)
        #expect(census.read == 1 && census.shown == 1)
        #expect(census.partial == 1 && census.failed == 2 && census.revoked == 1)
        #expect(census.oldest == sent[0].notification.createdAt)
        #expect(census.oldestUnfinished == sent[4].id.timestamp)
        let later = try await store.census(since: noon + .seconds(4), now: noon)
        #expect(later.accepted == 2 && later.oldest == sent[4].notification.createdAt)
        #expect(try await store.census(since: noon + .seconds(60), now: noon).accepted == 0)
    }

    @Test(arguments: conformingStores)
    func `A scheduled notification is not unfinished work`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await store.append([.sample(notBefore: noon + .seconds(600))])
        #expect(try await store.census(since: noon, now: noon).oldestUnfinished == nil)
        let later = try await store.census(since: noon, now: noon + .seconds(601))
        #expect(later.oldestUnfinished == noon)
    }

    @Test(arguments: conformingStores)
    func `Pages are newest first, of every sender`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await fill(store)
        var query = OperatorQuery(limit: 4)
        let first = try await store.page(query)
        #expect(first.entries.map(\.record.id) == [5, 4, 3, 2].map { sent[$0].id })
        #expect(first.entries.map(\.sender) == ["others", "tests", "tests", "tests"])
        query.before = first.next
        let second = try await store.page(query)
        #expect(second.entries.map(\.record.id) == [sent[1].id, sent[0].id])
        #expect(second.next == nil)
        #expect(second.entries.last?.record.deliveries.map(\.state) == [.sent, .dead])
        let bobs = try await store.page(OperatorQuery(recipient: .bob, limit: 10))
        #expect(bobs.entries.map(\.record.id) == [5, 4, 3].map { sent[$0].id })
        let late = try await store.page(OperatorQuery(since: noon + .seconds(4), limit: 10))
        #expect(late.entries.map(\.record.id) == [sent[5].id, sent[4].id])
        #expect(try await store.page(OperatorQuery(limit: 0)).entries.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `The failed ones are those that can be sent again`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await fill(store)
        let page = try await store.page(OperatorQuery(onlyFailed: true, limit: 10))
        #expect(page.entries.map(\.record.id) == [sent[1].id, sent[0].id])
        _ = try await store.resend(sent[1].id, sender: "tests", now: noon)
        #expect(
            try await store.page(OperatorQuery(onlyFailed: true, limit: 10)).entries.map(\.record.id)
                == [sent[0].id])
    }

    @Test(arguments: conformingStores)
    func `A life has the sender, the claims and the outbox entry`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await fill(store)
        #expect(try await store.life(of: NotificationID()) == nil)
        let waiting = try #require(try await store.life(of: sent[5].id))
        #expect(waiting.sender == "others" && waiting.record.recipient == .bob)
        let entryDue = OutboxPolicy.due(of: sent[5].notification)
        #expect(waiting.outbox == .waiting(due: entryDue))
        #expect(try await store.life(of: sent[4].id)?.outbox == .published)
        let done = try #require(try await store.life(of: sent[0].id))
        #expect(done.outbox == .none && done.attempt == 1)
        #expect(done.record == (try await store.record(sent[0].id, sender: "tests")))
    }
}
