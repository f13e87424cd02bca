import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct SilentPushTests {
    private static let interval = Duration.seconds(60)
    private static let apple = SilentPushKey(recipient: .alice, platform: .apple)
    /// IDs a second apart, the oldest first.
    private static let ids = (0..<6).map { NotificationID(at: noon + .seconds($0)) }

    private func ask(
        _ store: any Store, _ id: NotificationID, of key: SilentPushKey = apple, since sequence: Int64? = nil,
        isReminder: Bool = false, at seconds: Int64
    ) async throws -> SilentPushAdmission {
        let request = SilentPushRequest(key: key, id: id, sequence: sequence, isReminder: isReminder)
        let answers = try await store.admit([request], interval: Self.interval, now: noon + .seconds(seconds))
        return try #require(answers.first)
    }

    private func expect(
        _ expected: SilentPushAdmission, _ store: any Store, _ id: NotificationID, of key: SilentPushKey = apple,
        since sequence: Int64? = nil, isReminder: Bool = false, at seconds: Int64,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await ask(store, id, of: key, since: sequence, isReminder: isReminder, at: seconds)
        #expect(answer == expected, sourceLocation: sourceLocation)
    }

    private func grant(_ sequence: Int64, _ key: SilentPushKey = apple) -> SilentPushAdmission {
        .granted(SilentPushGrant(key: key, sequence: sequence))
    }

    private func state(
        _ sequence: Int64, at seconds: Int64, _ pushed: NotificationID?, waiting: NotificationID? = nil
    ) -> SilentPushAdmission {
        .refused(
            SilentPushState(
                sequence: sequence, pushedAt: noon + .seconds(seconds), pushedID: pushed, waitingID: waiting))
    }

    @Test(arguments: conformingStores)
    func `Within the interval there is one push; then the newest that waits is next`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = Self.ids
        try await expect(grant(1), store, ids[0], at: 0)
        try await expect(state(1, at: 0, ids[0]), store, ids[2], at: 1)
        try await expect(state(1, at: 0, ids[0], waiting: ids[2]), store, ids[1], at: 59)
        // The older one lets the newer one go first.
        try await expect(state(1, at: 0, ids[0], waiting: ids[2]), store, ids[1], since: 1, at: 60)
        try await expect(grant(2), store, ids[2], since: 1, at: 60)
        // The newer one's push covers it, however long ago it was.
        try await expect(state(2, at: 60, ids[2]), store, ids[1], since: 1, at: 61)
        try await expect(state(2, at: 60, ids[2]), store, ids[1], since: 1, at: 999)
        try await expect(grant(3), store, ids[3], at: 120)
    }

    @Test(arguments: conformingStores)
    func `Recipients and platforms have budgets of their own`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let keys = [
            Self.apple, SilentPushKey(recipient: .alice, platform: .fcmv1),
            SilentPushKey(recipient: .bob, platform: .apple),
            SilentPushKey(recipient: UserName("Alice")!, platform: .apple),
        ]
        let requests = keys.map { SilentPushRequest(key: $0, id: Self.ids[0]) }
        let first = try await store.admit(requests, interval: Self.interval, now: noon)
        #expect(first == keys.map { grant(1, $0) })
        let later = try await store.admit(requests.reversed(), interval: Self.interval, now: noon + .seconds(60))
        #expect(later == keys.reversed().map { grant(2, $0) })
        #expect(try await store.admit([], interval: Self.interval, now: noon).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `A newer one that does not come is waited for only a while`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (older, newer) = (Self.ids[1], Self.ids[2])
        _ = try await ask(store, Self.ids[0], at: 0)
        _ = try await ask(store, newer, at: 1)
        let waiting = state(1, at: 0, Self.ids[0], waiting: newer)
        try await expect(waiting, store, older, since: 1, at: 69)
        try await expect(grant(2), store, older, since: 1, at: 70)
        try await expect(state(2, at: 70, older), store, newer, since: 1, at: 71)
    }

    @Test(arguments: conformingStores)
    func `A push that was not accepted is given back, and its own retry comes first`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        _ = try await ask(store, Self.ids[2], at: 0)
        let unused = SilentPushRelease(SilentPushGrant(key: Self.apple, sequence: 1), isOwed: true)
        try await store.release([unused], interval: Self.interval, now: noon + .seconds(1))
        let free = state(1, at: -59, nil, waiting: Self.ids[2])
        try await expect(free, store, Self.ids[1], at: 2)
        try await expect(grant(2), store, Self.ids[2], at: 3)
        // Too late: this grant is not the newest.
        try await store.release([unused], interval: Self.interval, now: noon + .seconds(4))
        try await expect(state(2, at: 3, Self.ids[2]), store, Self.ids[3], at: 5)
    }

    @Test(arguments: conformingStores)
    func `After a push that was refused for good nobody waits`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        _ = try await ask(store, Self.ids[2], at: 0)
        let unused = SilentPushRelease(SilentPushGrant(key: Self.apple, sequence: 1), isOwed: false)
        try await store.release([unused], interval: Self.interval, now: noon)
        try await expect(grant(2), store, Self.ids[1], at: 0)
        try await store.release([], interval: Self.interval, now: noon)
    }

    @Test(arguments: conformingStores)
    func `A reminder uses up the push and covers nobody`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        try await expect(grant(1), store, Self.ids[3], isReminder: true, at: 0)
        try await expect(state(1, at: 0, nil), store, Self.ids[1], since: 0, at: 1)
        // It is newer than the one that waits.
        try await expect(grant(2), store, Self.ids[3], isReminder: true, at: 60)
    }

    @Test(arguments: conformingStores)
    func `A clock that was ahead delays for one interval at most`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        _ = try await ask(store, Self.ids[0], at: 100_000)
        _ = try await ask(store, Self.ids[1], at: 0)
        try await expect(grant(2), store, Self.ids[1], since: 1, at: 60)
    }

    @Test(arguments: conformingStores)
    func `Of many that ask at the same time one is granted`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        for round in 0..<5 {
            let now = noon + .seconds(round * 100)
            let granted = try await withThrowingTaskGroup(of: Int.self) { group in
                for id in Self.ids {
                    group.addTask {
                        let requests = [Platform.apple, .fcmv1].map {
                            SilentPushRequest(key: SilentPushKey(recipient: .alice, platform: $0), id: id)
                        }
                        let answers = try await store.admit(requests, interval: Self.interval, now: now)
                        return answers.count { if case .granted = $0 { true } else { false } }
                    }
                }
                return try await group.reduce(0, +)
            }
            #expect(granted == 2)
        }
    }

    @Test(arguments: conformingStores)
    func `The state goes with the recipient's last notification`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(1)
        try await store.append(sent)
        _ = try await ask(store, sent[0].id, at: 0)
        let bobs = SilentPushKey(recipient: .bob, platform: .apple)
        _ = try await ask(store, sent[0].id, of: bobs, at: 0)
        let expiry = sent[0].notification.expiresAt
        _ = try await store.purge(limit: 9, now: expiry)
        _ = try await store.purge(limit: 9, now: expiry + RetentionPolicy.tombstone)
        // Number 1 again: there was no state. Bob's is still there.
        try await expect(grant(1), store, Self.ids[5], at: 9)
        try await expect(grant(2, bobs), store, Self.ids[5], of: bobs, at: 60)
    }
}
