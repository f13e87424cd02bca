import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct ReadingTests {
    private static let now = noon + .seconds(1000)

    /// Those of `alice` that are read, of these.
    private static func read(
        _ store: any Store, _ sent: [SealedNotification], by user: UserName = .alice
    ) async throws -> [Bool] {
        let states = try await store.states(sent.map(\.id), recipient: user)
        return sent.map { states[$0.id]?.isRead ?? false }
    }

    @Test(arguments: conformingStores)
    func `Several are found at once, and only the user's own`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent: [SealedNotification] = [
            .sample(payload: [1]), .sample(to: .bob, payload: [2]), .sample(payload: [3]),
        ]
        try await store.append(sent)
        try await store.markRead(sent[2].id, at: noon)
        let ids = sent.map(\.id) + [NotificationID(), sent[0].id]
        let found = try await store.find(ids, recipient: .alice)
        #expect(Set(found.keys) == [sent[0].id, sent[2].id])
        for one in [sent[0], sent[2]] {
            #expect(try await store.find(one.id, recipient: .alice) == found[one.id])
        }
        #expect(found[sent[2].id]?.payload?.bytes == [3] && found[sent[2].id]?.readAt == noon)
        #expect(try await store.find([], recipient: .alice).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `The bytes of payloads are known without loading them`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent: [SealedNotification] = [
            .sample(payload: [UInt8](repeating: 7, count: 300_000)), .sample(payload: [1, 0, 2]),
            .sample(to: .bob, payload: [1, 2]), .sample(payload: [4]), .sample(payload: [0]),
        ]
        try await store.append(sent)
        let ids = sent.map(\.id) + [NotificationID()]
        #expect(try await store.payloadBytes(of: ids, recipient: .alice) == 300_005)
        #expect(try await store.payloadBytes(of: ids, recipient: .bob) == 2)
        #expect(try await store.payloadBytes(of: [], recipient: .alice) == 0)
        #expect(try await store.payloadBytes(of: [sent[2].id], recipient: .alice) == 0)
        _ = try await store.revoke(sent[0].id, sender: "tests", now: noon)
        #expect(try await store.payloadBytes(of: ids, recipient: .alice) == 5)
    }

    @Test(arguments: conformingStores)
    func `States are those of what a fetch finds`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent: [SealedNotification] = [
            .sample(), .sample(expiresAt: noon + .seconds(5), notBefore: noon + .seconds(2)), .sample(),
            .sample(to: .bob),
        ]
        try await store.append(sent)
        try await store.markRead(sent[0].id, at: noon)
        _ = try await store.revoke(sent[2].id, sender: "tests", now: noon)
        let ids = sent.map(\.id) + [NotificationID()]
        let states = try await store.states(ids, recipient: .alice)
        #expect(states.count == 3)
        for one in sent.prefix(3) {
            let found = try #require(try await store.find(one.id, recipient: .alice))
            #expect(states[one.id] == found.state)
        }
        #expect(states[sent[0].id]?.isRead == true && states[sent[2].id]?.isRevoked == true)
        #expect(states[sent[1].id]?.notBefore == noon + .seconds(2))
        #expect(states[sent[1].id]?.expiresAt == noon + .seconds(5))
        #expect(try await store.states([], recipient: .alice).isEmpty)
    }

    @Test(arguments: conformingStores, OwnerTests.lookalikes)
    func `Names are compared byte for byte`(_ kind: StoreKind, _ names: (String, String)) async throws {
        let store = try await kind.open()
        let (one, other) = (try #require(UserName(names.0)), try #require(UserName(names.1)))
        let sent = SealedNotification.sample(to: one)
        try await store.append([sent])
        #expect(try await store.find([sent.id], recipient: other).isEmpty)
        #expect(try await store.states([sent.id], recipient: other).isEmpty)
        #expect(try await store.unreadCount(of: other, now: noon) == 0)
        try await store.markRead([sent.id], of: other, at: noon)
        try await store.markRead(through: sent.id, of: other, at: noon)
        #expect(try await Self.read(store, [sent], by: one) == [false])
        #expect(try await store.unreadCount(of: one, now: noon) == 1)
    }

    @Test(arguments: conformingStores)
    func `Of the named ones, what is unread in the user's inbox is marked`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let now = Self.now
        let sent: [SealedNotification] = [
            .sample(), .sample(to: .bob), .sample(expiresAt: now), .sample(expiresAt: now + .milliseconds(1)),
            .sample(notBefore: now + .milliseconds(1)), .sample(notBefore: now), .sample(), .sample(), .sample(),
        ]
        try await store.append(sent)
        _ = try await store.revoke(sent[6].id, sender: "tests", now: noon)
        try await store.markRead(sent[7].id, at: noon)
        // All but the last one, in any order, with repetitions and an unknown one.
        let ids = sent.dropLast().map(\.id).shuffled() + [sent[0].id, NotificationID()]
        for _ in 0..<2 { try await store.markRead(ids, of: .alice, at: now) }
        let isRead = [true, false, false, true, false, true, false, true, false]
        #expect(try await Self.read(store, sent) == isRead)
        #expect(try await Self.read(store, sent, by: .bob)[1] == false)
        #expect(try await store.find(sent[0].id, recipient: .alice)?.readAt == now)
        #expect(try await store.find(sent[7].id, recipient: .alice)?.readAt == noon)
        try await store.markRead([], of: .alice, at: now)
    }

    @Test(arguments: conformingStores)
    func `Through one, everything before it is marked and nothing after it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(6)
        let others = SealedNotification.sample(NotificationID(at: noon + .seconds(1)), to: .bob)
        try await store.append(sent + [others])
        try await store.markRead(sent[1].id, at: noon)
        _ = try await store.revoke(sent[0].id, sender: "tests", now: noon)
        try await store.markRead(through: sent[3].id, of: .alice, at: Self.now)
        #expect(try await Self.read(store, sent) == [false, true, true, true, false, false])
        #expect(try await store.find(sent[1].id, recipient: .alice)?.readAt == noon)
        #expect(try await store.find(sent[2].id, recipient: .alice)?.readAt == Self.now)
        #expect(try await Self.read(store, [others], by: .bob) == [false])
        #expect(try await store.unreadCount(of: .alice, now: Self.now) == 2)
        // One that is read, revoked or expired still marks a place.
        _ = try await store.revoke(sent[4].id, sender: "tests", now: noon)
        try await store.markRead(through: sent[4].id, of: .alice, at: Self.now)
        #expect(try await store.unreadCount(of: .alice, now: Self.now) == 1)
        try await store.markRead(through: sent[5].id, of: .alice, at: Self.now)
        #expect(try await store.unreadCount(of: .alice, now: Self.now) == 0)
    }

    @Test(arguments: conformingStores)
    func `Through an unknown one, another's or one not yet due, nothing is marked`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (sent, later) = (SealedNotification.samples(3), noon + .seconds(60))
        let others = SealedNotification.sample(NotificationID(at: later), to: .bob)
        let early = SealedNotification.sample(NotificationID(at: later), notBefore: Self.now + .milliseconds(1))
        try await store.append(sent + [others, early])
        for id in [NotificationID(at: later), others.id, early.id] {
            try await store.markRead(through: id, of: .alice, at: Self.now)
        }
        #expect(try await Self.read(store, sent) == [false, false, false])
        #expect(try await Self.read(store, [others], by: .bob) == [false])
        try await store.markRead(through: early.id, of: .alice, at: Self.now + .milliseconds(1))
        #expect(try await Self.read(store, sent + [early]) == [true, true, true, true])
    }

    @Test(arguments: conformingStores)
    func `More than a step is marked in several`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        // Of one millisecond, so that the steps end between IDs of the same time.
        let sent = (0..<(ReadMarkPolicy.step * 2 + 3)).map { _ in SealedNotification.sample() }
            .sorted { $0.id < $1.id }
        try await store.append(sent)
        let last = sent[sent.count - 2]
        try await store.markRead(through: last.id, of: .alice, at: Self.now)
        #expect(try await store.unreadCount(of: .alice, now: Self.now) == 1)
        #expect(try await Self.read(store, [last, sent[sent.count - 1]]) == [true, false])
    }

    @Test(arguments: conformingStores)
    func `The number of unread ones is that of the inbox`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let now = Self.now
        var sent: [SealedNotification] = [
            .sample(), .sample(), .sample(expiresAt: now), .sample(notBefore: now + .milliseconds(1)), .sample(),
            .sample(expiresAt: now),
        ]
        sent += (0..<3).map { _ in SealedNotification.sample(to: .bob) }
        try await store.append(sent)
        try await store.markRead(sent[0].id, at: noon)
        _ = try await store.revoke(sent[4].id, sender: "tests", now: noon)
        let nobody = try #require(UserName("nobody"))
        let expected = [(UserName.alice, 1), (.bob, 3), (nobody, 0)]
        // Many at once, because stores combine them.
        try await withThrowingTaskGroup { group in
            for _ in 0..<40 {
                for (user, count) in expected {
                    group.addTask {
                        let unread = try await store.unreadCount(of: user, now: now)
                        #expect(unread == count)
                    }
                }
            }
            try await group.waitForAll()
        }
        for (user, count) in expected {
            let page = try await store.inbox(of: user, unreadOnly: false, after: nil, limit: 9, now: now)
            #expect(page.unread == count)
        }
        // Each question has its own time.
        async let before = store.unreadCount(of: .alice, now: now - .milliseconds(1))
        async let after = store.unreadCount(of: .alice, now: now + .milliseconds(1))
        #expect(try await [before, after] == [3, 2])
    }

    @Test(arguments: conformingStores)
    func `The first time of showing is kept, and is no read`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        #expect(try await store.record(sent[0].id, sender: "tests")?.shownAt == nil)
        for second in [5, 1, 9] { try await store.markShown(sent[0].id, at: noon + .seconds(second)) }
        try await store.markShown(NotificationID(), at: noon)
        let record = try #require(try await store.record(sent[0].id, sender: "tests"))
        #expect(record.shownAt == noon + .seconds(5) && record.readAt == nil)
        #expect(try await store.unreadCount(of: .alice, now: noon) == 2)
        let page = try await store.page(NotificationQuery(sender: "tests"), now: noon)
        #expect(page.records.map(\.shownAt) == [nil, noon + .seconds(5)])
        #expect(try await store.records([sent[0].id])[sent[0].id] == record)
    }

    @Test(arguments: conformingStores)
    func `Of many at once one is kept`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        try await withThrowingTaskGroup { group in
            for second in 1...50 {
                group.addTask { try await store.markShown(sent[0].id, at: noon + .seconds(second)) }
            }
            try await group.waitForAll()
        }
        let shownAt = try #require(try await store.record(sent[0].id, sender: "tests")?.shownAt)
        #expect((1...50).map { noon + .seconds($0) }.contains(shownAt))
        try await store.markShown(sent[0].id, at: noon)
        #expect(try await store.record(sent[0].id, sender: "tests")?.shownAt == shownAt)
        #expect(try await store.record(sent[1].id, sender: "tests")?.shownAt == nil)
    }
}
