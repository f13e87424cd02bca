import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct PageStatusTests {
    private static let now = noon + .seconds(100)
    private static let past = noon + .seconds(50)

    /// How a notification is brought where it is to stand.
    private struct Story {
        var status: NotificationStatus
        var expiresAt: Timestamp?
        /// `nil` leaves it unclaimed.
        var deliveries: [DeliveryState]?
        var isRead = false
        var isRevoked = false
    }

    /// Revoked outweighs read, read outweighs expired, expired outweighs how far dispatching has come.
    private static let stories: [Story] = [
        Story(status: .accepted),
        Story(status: .accepted, expiresAt: now + .milliseconds(1)),
        Story(status: .queued, deliveries: []),
        Story(status: .queued, deliveries: [.sent, .retrying]),
        Story(status: .dispatched, deliveries: [.sent, .skipped]),
        Story(status: .partial, deliveries: [.sent, .dead]),
        Story(status: .failed, deliveries: [.dead, .dead]),
        Story(status: .expired, expiresAt: past),
        Story(status: .expired, expiresAt: now),
        Story(status: .expired, expiresAt: past, deliveries: [.sent]),
        Story(status: .expired, expiresAt: past, deliveries: [.dead]),
        Story(status: .read, isRead: true),
        Story(status: .read, expiresAt: past, isRead: true),
        Story(status: .read, deliveries: [.sent, .dead], isRead: true),
        Story(status: .revoked, isRevoked: true),
        Story(status: .revoked, deliveries: [.sent], isRevoked: true),
        Story(status: .revoked, expiresAt: past, isRevoked: true),
        Story(status: .revoked, expiresAt: past, deliveries: [.dead], isRead: true, isRevoked: true),
    ]

    /// Tells the stories, the oldest first, and returns their IDs.
    private static func tell(_ store: any Store) async throws -> [NotificationID] {
        var ids: [NotificationID] = []
        for (index, story) in stories.enumerated() {
            let time = noon + .milliseconds(index)
            let sent = SealedNotification.sample(
                NotificationID(at: time), createdAt: time, expiresAt: story.expiresAt)
            try await store.append([sent])
            if let states = story.deliveries {
                let attempt = try await store.claim([sent.id], now: noon)[sent.id]?.attempt ?? 0
                let deliveries = zip([Platform.apple, .fcmv1], states).map { Delivery.sample($0, $1) }
                if !deliveries.isEmpty {
                    try await store.record([DispatchOutcome(id: sent.id, attempt: attempt, deliveries: deliveries)])
                }
            }
            if story.isRead { try await store.markRead(sent.id, at: noon + .seconds(1)) }
            if story.isRevoked { _ = try await store.revoke(sent.id, sender: "tests", now: noon + .seconds(2)) }
            ids.append(sent.id)
        }
        return ids
    }

    @Test(arguments: conformingStores, [nil, UserName.alice])
    func `Each status finds its own and no other`(_ kind: StoreKind, _ recipient: UserName?) async throws {
        let store = try await kind.open()
        let ids = try await Self.tell(store)
        for status in NotificationStatus.allCases {
            let expected = zip(ids, Self.stories).filter { $0.1.status == status }.map(\.0)
            #expect(!expected.isEmpty)
            let query = NotificationQuery(sender: "tests", recipient: recipient, status: status)
            let page = try await store.page(query, now: Self.now)
            #expect(page.records.map(\.id) == expected.reversed(), "\(status)")
            #expect(page.records.allSatisfy { $0.status(at: Self.now) == status })
            #expect(page.next == nil)
        }
    }

    @Test(arguments: conformingStores)
    func `Without a status all are there, each with the one that it is found by`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        _ = try await Self.tell(store)
        let page = try await store.page(NotificationQuery(sender: "tests"), now: Self.now)
        #expect(page.records.map { $0.status(at: Self.now) } == Self.stories.map(\.status).reversed())
    }

    @Test(arguments: conformingStores)
    func `A status and a limit together leave the rest for the next page`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await Self.tell(store)
        let expired = zip(ids, Self.stories).filter { $0.1.status == .expired }.map(\.0)
        var query = NotificationQuery(sender: "tests", status: .expired, limit: 3)
        let first = try await store.page(query, now: Self.now)
        #expect(first.records.map(\.id) == expired.suffix(3).reversed())
        #expect(first.next != nil)
        query.before = first.next
        let second = try await store.page(query, now: Self.now)
        #expect(second.records.map(\.id) == [expired[0]] && second.next == nil)
    }
}
