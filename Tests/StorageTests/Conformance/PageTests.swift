import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct PageTests {
    private static func ids(_ page: NotificationPage) -> [NotificationID] { page.records.map(\.id) }

    @Test(arguments: conformingStores)
    func `Newest first, up to the limit, from before an ID`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(5)
        try await store.append([3, 0, 4, 1, 2].map { sent[$0] })
        var query = NotificationQuery(sender: "tests", limit: 2)
        let first = try await store.page(query, now: noon)
        #expect(Self.ids(first) == [sent[4].id, sent[3].id] && first.next == sent[3].id)
        query.before = first.next
        let second = try await store.page(query, now: noon)
        #expect(Self.ids(second) == [sent[2].id, sent[1].id] && second.next == sent[1].id)
        query.before = second.next
        let last = try await store.page(query, now: noon)
        #expect(Self.ids(last) == [sent[0].id] && last.next == nil)
        query.before = sent[0].id
        #expect(try await store.page(query, now: noon) == NotificationPage(records: [], next: nil))
    }

    @Test(arguments: conformingStores)
    func `A page that holds the rest exactly has no next one`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(3)
        try await store.append(sent)
        let page = try await store.page(NotificationQuery(sender: "tests", limit: 3), now: noon)
        #expect(page.records.count == 3 && page.next == nil)
        #expect(try await store.page(NotificationQuery(sender: "tests", limit: 0), now: noon).records.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `Its records are those that are given one by one`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let due = noon + .seconds(3)
        let sent = try await store.appendClaimed(.sample(notBefore: due), at: due)
        let deliveries = [Delivery.sample(.apple, .sent), Delivery.sample(.windows, .dead)]
        try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: deliveries)])
        let record = try #require(try await store.record(sent.id, sender: "tests"))
        #expect(record.deliveries == deliveries)
        #expect(try await store.page(NotificationQuery(sender: "tests"), now: noon).records == [record])
    }

    @Test(arguments: conformingStores, [nil, UserName.alice])
    func `Another sender's are absent`(_ kind: StoreKind, _ recipient: UserName?) async throws {
        let store = try await kind.open()
        let senders = ["user:\u{E9}", "user:e\u{301}", "User:\u{E9}", "tests"]
        let sent = senders.map { SealedNotification.sample(from: $0) }
        try await store.append(sent)
        for (sender, one) in zip(senders, sent) {
            let page = try await store.page(NotificationQuery(sender: sender, recipient: recipient), now: noon)
            #expect(Self.ids(page) == [one.id])
        }
        let unknown = NotificationQuery(sender: "nobody", recipient: recipient)
        #expect(try await store.page(unknown, now: noon).records.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `Recipients are compared byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let names = try ["\u{E9}", "e\u{301}", "alice", "Alice", "alice "].map { try #require(UserName($0)) }
        let sent = names.map { SealedNotification.sample(to: $0) }
        try await store.append(sent)
        for (name, one) in zip(names, sent) {
            let page = try await store.page(NotificationQuery(sender: "tests", recipient: name), now: noon)
            #expect(Self.ids(page) == [one.id])
            #expect(page.records.first?.recipient == name)
        }
        let unknown = NotificationQuery(sender: "tests", recipient: .bob)
        #expect(try await store.page(unknown, now: noon).records.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A recipient's pages go on where the last ended`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let mine = SealedNotification.samples(7)
        let others = (0..<7).map { index in
            SealedNotification.sample(NotificationID(at: noon + .seconds(index)), to: .bob)
        }
        try await store.append(mine + others)
        let query = NotificationQuery(sender: "tests", recipient: .alice, limit: 3)
        let found = try await Self.walk(store, query)
        #expect(found == mine.map(\.id).reversed())
    }

    /// All IDs of all pages, as a client collects them.
    private static func walk(_ store: any Store, _ query: NotificationQuery) async throws -> [NotificationID] {
        var query = query
        var found: [NotificationID] = []
        for _ in 0..<1000 {
            let page = try await store.page(query, now: noon)
            #expect(page.records.count <= query.limit)
            found += page.records.map(\.id)
            guard let next = page.next else { return found }
            if let before = query.before { #expect(next < before) }
            query.before = next
        }
        Issue.record("The pages do not end.")
        return found
    }

    @Test(arguments: conformingStores, [1, 7, 50, 250])
    func `Pages of 250 that came in one millisecond meet each once`(_ kind: StoreKind, _ limit: Int) async throws {
        let store = try await kind.open()
        let sent = (0..<250).map { _ in SealedNotification.sample() }
        try await store.append(sent)
        let found = try await Self.walk(store, NotificationQuery(sender: "tests", limit: limit))
        #expect(found == sent.map(\.id).sorted().reversed())
    }

    @Test(arguments: conformingStores)
    func `Paging with a status meets each of that status once`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(250)
        try await store.append(sent)
        let claimed = sent.enumerated().filter { $0.offset % 9 == 4 }.map(\.element.id)
        _ = try await store.claim(claimed, now: noon)
        let query = NotificationQuery(sender: "tests", status: .queued, limit: 10)
        #expect(try await Self.walk(store, query) == claimed.reversed())
    }
}
