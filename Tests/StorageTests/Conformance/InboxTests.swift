import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct InboxTests {
    private static func inbox(
        _ store: any Store, of recipient: UserName = .alice, unreadOnly: Bool = false, after: NotificationID? = nil,
        limit: Int = 100, now: Timestamp = noon + .seconds(100)
    ) async throws -> InboxPage {
        try await store.inbox(of: recipient, unreadOnly: unreadOnly, after: after, limit: limit, now: now)
    }

    @Test(arguments: conformingStores)
    func `Oldest first, with what was read, and nothing is marked`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(4)
        try await store.append([2, 0, 3, 1].map { sent[$0] })
        try await store.markRead(sent[1].id, at: noon)
        for _ in 1...2 {
            let page = try await Self.inbox(store)
            #expect(page.entries.map(\.id) == sent.map(\.id))
            #expect(page.entries.map(\.createdAt) == sent.map(\.notification.createdAt))
            #expect(page.entries.map(\.isRead) == [false, true, false, false])
            #expect(page.unread == 3 && page.next == nil)
        }
        #expect(try await store.find(sent[0].id, recipient: .alice)?.readAt == nil)
    }

    @Test(arguments: conformingStores)
    func `Pages go on from behind the last, and count the unread of all`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(5)
        try await store.append(sent)
        try await store.markRead(sent[0].id, at: noon)
        let first = try await Self.inbox(store, limit: 2)
        #expect(first.entries.map(\.id) == [sent[0].id, sent[1].id])
        #expect(first.next == sent[1].id && first.unread == 4)
        let second = try await Self.inbox(store, after: first.next, limit: 2)
        #expect(second.entries.map(\.id) == [sent[2].id, sent[3].id])
        #expect(second.next == sent[3].id && second.unread == 4)
        let last = try await Self.inbox(store, after: second.next, limit: 2)
        #expect(last.entries.map(\.id) == [sent[4].id] && last.next == nil && last.unread == 4)
        let exact = try await Self.inbox(store, after: sent[2].id, limit: 2)
        #expect(exact.entries.count == 2 && exact.next == nil)
        #expect(try await Self.inbox(store, after: sent[4].id) == InboxPage(entries: [], unread: 4, next: nil))
        #expect(try await Self.inbox(store, limit: 0).entries.isEmpty)
    }

    /// The rows that one question reads are bounded. Reading some does not bring older ones back.
    @Test(arguments: conformingStores)
    func `The unread are counted among the newest 10,000`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(InboxPage.maxUnreadScan + 5)
        for start in stride(from: 0, to: sent.count, by: 2000) {
            try await store.append(Array(sent[start..<min(start + 2000, sent.count)]))
        }
        let now = noon + .seconds(100)
        #expect(try await store.unreadCount(of: .alice, now: now) == InboxPage.maxUnreadScan)
        for unreadOnly in [true, false] {
            let page = try await Self.inbox(store, unreadOnly: unreadOnly, limit: 3)
            #expect(page.unread == InboxPage.maxUnreadScan && page.entries.map(\.id) == sent.prefix(3).map(\.id))
        }
        try await store.markRead(sent.suffix(7).map(\.id), at: now)
        try await store.markRead(sent.prefix(2).map(\.id), at: now)
        #expect(try await store.unreadCount(of: .alice, now: now) == InboxPage.maxUnreadScan - 7)
        #expect(try await store.unreadCount(of: .bob, now: now) == 0)
    }

    @Test(arguments: conformingStores)
    func `Only the unread, where only they are asked for`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(5)
        try await store.append(sent)
        for index in [0, 2, 4] { try await store.markRead(sent[index].id, at: noon) }
        let page = try await Self.inbox(store, unreadOnly: true)
        #expect(page.entries.map(\.id) == [sent[1].id, sent[3].id])
        #expect(page.entries.allSatisfy { !$0.isRead } && page.unread == 2 && page.next == nil)
        let first = try await Self.inbox(store, unreadOnly: true, limit: 1)
        #expect(first.entries.map(\.id) == [sent[1].id] && first.next == sent[1].id && first.unread == 2)
        // Behind the second unread one there is only what was read.
        let last = try await Self.inbox(store, unreadOnly: true, after: first.next, limit: 1)
        #expect(last.entries.map(\.id) == [sent[3].id] && last.next == nil)
    }

    @Test(arguments: conformingStores)
    func `What is expired, revoked or not yet due is left out, to the millisecond`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let now = noon + .seconds(100)
        let sent: [SealedNotification] = [
            .sample(NotificationID(at: noon), expiresAt: now),
            .sample(NotificationID(at: noon + .seconds(1)), expiresAt: now + .milliseconds(1)),
            .sample(NotificationID(at: noon + .seconds(2)), notBefore: now + .milliseconds(1)),
            .sample(NotificationID(at: noon + .seconds(3)), notBefore: now),
            .sample(NotificationID(at: noon + .seconds(4))),
            .sample(NotificationID(at: noon + .seconds(5))),
        ]
        try await store.append(sent)
        _ = try await store.revoke(sent[4].id, sender: "tests", now: noon)
        let page = try await Self.inbox(store, now: now)
        #expect(page.entries.map(\.id) == [sent[1].id, sent[3].id, sent[5].id])
        #expect(page.unread == 3)
        let later = try await Self.inbox(store, now: now + .milliseconds(1))
        #expect(later.entries.map(\.id) == [sent[2].id, sent[3].id, sent[5].id])
        // What is left out is no reason for a next page.
        let first = try await Self.inbox(store, limit: 3, now: now)
        #expect(first.entries.count == 3 && first.next == nil)
    }

    @Test(arguments: conformingStores)
    func `Another's are absent: users are compared byte for byte`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let names = try ["\u{E9}", "e\u{301}", "alice", "Alice", "alice "].map { try #require(UserName($0)) }
        let sent = names.map { SealedNotification.sample(to: $0) }
        try await store.append(sent)
        for (name, one) in zip(names, sent) {
            let page = try await Self.inbox(store, of: name)
            #expect(page.entries.map(\.id) == [one.id] && page.unread == 1)
        }
        #expect(try await Self.inbox(store, of: .bob) == InboxPage(entries: [], unread: 0, next: nil))
    }

    @Test(arguments: conformingStores, [7, 50])
    func `Walking 250 that came in one millisecond meets each once`(_ kind: StoreKind, _ limit: Int) async throws {
        let store = try await kind.open()
        let sent = (0..<250).map { _ in SealedNotification.sample() }
        try await store.append(sent)
        var found: [NotificationID] = []
        var after: NotificationID?
        repeat {
            let page = try await Self.inbox(store, after: after, limit: limit)
            found += page.entries.map(\.id)
            #expect(page.unread == 250)
            after = page.next
        } while after != nil && found.count <= 250
        #expect(found == sent.map(\.id).sorted())
    }
}
