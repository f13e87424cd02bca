import Domain
import Foundations
import Storage
import TestSupport
import Testing

@Suite(.stores) struct DeadLetterTests {
    private static let later = noon + .seconds(60)
    private static let pending = Delivery(platform: .fcmv1, state: .pending, updatedAt: later)

    /// A notification that apple took, that fcmv1 was given up for, and that windows refused for good.
    private static func giveUp(_ store: any Store) async throws -> NotificationID {
        let sent = SealedNotification.sample()
        try await store.append([sent])
        let attempt = try #require(try await store.claim([sent.id], now: noon)[sent.id]?.attempt)
        let deliveries: [Delivery] = [.sample(.apple, .sent), .sample(.fcmv1, .dead), .sample(.windows, .dead)]
        try await store.record([DispatchOutcome(id: sent.id, attempt: attempt, deliveries: deliveries)])
        return sent.id
    }

    @Test(arguments: conformingStores)
    func `What the letter names is pending again, without attempts; the rest stays`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await Self.giveUp(store)
        let results = try await store.reopen([id: [.fcmv1]], now: Self.later)
        #expect(results == [id: .owed([.fcmv1])])
        let record = try #require(try await store.records([id])[id])
        #expect(record.dispatchStatus == .queued)
        #expect(record.deliveries == [.sample(.apple, .sent), Self.pending, .sample(.windows, .dead)])
        let plan = try #require(try await store.claim([id], now: Self.later)[id])
        #expect(plan.attempt == 3 && plan.deliveries == record.deliveries)
    }

    @Test(arguments: conformingStores)
    func `Reopening again changes nothing that matters`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await Self.giveUp(store)
        for _ in 0..<3 {
            let results = try await store.reopen([id: [.fcmv1]], now: Self.later)
            #expect(results == [id: .owed([.fcmv1])])
        }
        #expect(try await store.records([id])[id]?.deliveries[1] == Self.pending)
    }

    @Test(arguments: conformingStores)
    func `An outcome from before does not write over it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await Self.giveUp(store)
        let attempt = try #require(try await store.claim([id], now: noon)[id]?.attempt)
        _ = try await store.reopen([id: [.fcmv1]], now: Self.later)
        try await store.record([DispatchOutcome(id: id, attempt: attempt, deliveries: [.sample(.fcmv1, .dead)])])
        #expect(try await store.records([id])[id]?.deliveries[1] == Self.pending)
    }

    @Test(arguments: conformingStores)
    func `Claims at the same time and reopening lose nothing of each other`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await Self.giveUp(store)
        let results = try await withThrowingTaskGroup(of: [NotificationID: ReplayDecision].self) { group in
            for _ in 0..<4 { group.addTask { try await store.reopen([id: [.fcmv1]], now: Self.later) } }
            for _ in 0..<4 {
                group.addTask {
                    _ = try await store.claim([id], now: noon)
                    return [:]
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.filter { $0 == [id: .owed([.fcmv1])] }.count == 4)
        // One of giving up, four of reopening, four claims, and this one.
        #expect(try await store.claim([id], now: noon)[id]?.attempt == 10)
    }

    @Test(arguments: conformingStores)
    func `What is expired, revoked, settled or unknown is not reopened`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let settled = try await Self.giveUp(store)
        let expired = SealedNotification.sample(expiresAt: noon + .seconds(5))
        let revoked = SealedNotification.sample()
        try await store.append([expired, revoked])
        _ = try await store.revoke(revoked.id, sender: "tests", now: noon)
        let before = try await store.records([settled, expired.id, revoked.id])
        let results = try await store.reopen(
            [settled: [.apple], expired.id: [], revoked.id: [], NotificationID(): []], now: Self.later)
        #expect(results == [settled: .settled, expired.id: .expired, revoked.id: .revoked])
        let after = try await store.records([settled, expired.id, revoked.id, NotificationID()])
        #expect(after == before && after.count == 3)
    }

    @Test(arguments: conformingStores)
    func `A letter without platforms begins again with all that is owed`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        #expect(try await store.reopen([sent.id: []], now: Self.later) == [sent.id: .owed([])])
        let attempt = try #require(try await store.claim([sent.id], now: noon)[sent.id]?.attempt)
        let deliveries: [Delivery] = [.sample(.apple, .retrying), .sample(.windows, .dead)]
        try await store.record([DispatchOutcome(id: sent.id, attempt: attempt, deliveries: deliveries)])
        #expect(try await store.reopen([sent.id: []], now: Self.later) == [sent.id: .owed([])])
        let record = try #require(try await store.records([sent.id])[sent.id])
        let pending = Delivery(platform: .apple, state: .pending, updatedAt: Self.later)
        #expect(record.deliveries == [pending, .sample(.windows, .dead)])
    }

    @Test(arguments: conformingStores)
    func `What the relay is to publish is due at once, although it was claimed a moment ago`(
        _ kind: StoreKind
    ) async throws {
        let store = try await kind.open()
        let id = try await Self.giveUp(store)
        let now = noon + .seconds(1)
        let result = try await store.resend(
            id, sender: "tests", now: now, publishedBy: .relay(traceparent: "00-new-01"))
        #expect(result == .owed([.fcmv1, .windows]))
        #expect(
            try await store.lease(limit: 9, now: now, until: now + .seconds(60))
                == [OutboxEntry(id: id, traceparent: "00-new-01")])
        // Without a trace of its own it has that of the notification, also where there is an entry already.
        let other = try await Self.giveUp(store)
        let known = SealedNotification.sample().notification.traceparent
        for _ in 0..<2 {
            _ = try await store.reopen([other: [.fcmv1]], now: now, publishedBy: .relay(traceparent: nil))
        }
        #expect(
            try await store.lease(limit: 9, now: now, until: now + .seconds(60))
                == [OutboxEntry(id: other, traceparent: known)])
    }

    @Test(arguments: conformingStores)
    func `Resending owes again all that died, and nothing else`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await Self.giveUp(store)
        #expect(try await store.resend(id, sender: "another", now: Self.later) == nil)
        #expect(try await store.resend(NotificationID(), sender: "tests", now: Self.later) == nil)
        let result = try await store.resend(id, sender: "tests", now: Self.later)
        #expect(result == .owed([.fcmv1, .windows]))
        let record = try #require(try await store.record(id, sender: "tests"))
        #expect(record.dispatchStatus == .queued)
        let windows = Delivery(platform: .windows, state: .pending, updatedAt: Self.later)
        #expect(record.deliveries == [.sample(.apple, .sent), Self.pending, windows])
        // What is owed again has not failed again.
        #expect(try await store.resend(id, sender: "tests", now: Self.later) == .settled)
        // Nobody has to publish it: it falls due by itself.
        let due = Self.later + OutboxPolicy.redelivery
        let lease = try await store.leasePublished(limit: 9, due: due, now: due, until: due + .seconds(60))
        #expect(lease.entries.map(\.id) == [id])
    }

    @Test(arguments: conformingStores)
    func `What was never given up, has expired or was revoked is not resent`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (fresh, expired) = (
            SealedNotification.sample(), SealedNotification.sample(expiresAt: noon + .seconds(5))
        )
        let revoked = try await Self.giveUp(store)
        try await store.append([fresh, expired])
        _ = try await store.revoke(revoked, sender: "tests", now: noon)
        let ids = [fresh.id, expired.id, revoked]
        let before = try await store.records(ids)
        var results: [ReplayDecision?] = []
        for id in ids { results.append(try await store.resend(id, sender: "tests", now: Self.later)) }
        #expect(results == [.settled, .expired, .revoked])
        #expect(try await store.records(ids) == before)
    }

    @Test(arguments: conformingStores)
    func `Payloads of a key are counted while they can be read`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let samples = SealedNotification.samples(5)
        try await store.append(samples)
        _ = try await store.revoke(samples[4].id, sender: "tests", now: noon)
        #expect(try await store.payloadKeys(now: noon) == ["k1": 4])
        #expect(try await store.payloadKeys(now: samples[1].notification.expiresAt) == ["k1": 2])
        #expect(try await store.payloadKeys(now: noon + .seconds(7200)) == [:])
        // A page ends after `limit` rows, whether they count or not, and the last one says so.
        var (pages, next): ([PayloadKeyPage], NotificationID?) = ([], nil)
        repeat {
            pages.append(try await store.payloadKeys(after: next, limit: 2, now: noon))
            next = pages.last?.next
        } while next != nil
        #expect(pages.map { $0.counts["k1"] ?? 0 } == [2, 2, 0])
        #expect(pages.map(\.next) == [samples[1].id, samples[3].id, nil])
    }

    @Test(arguments: conformingStores)
    func `Each key is counted`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let samples = SealedNotification.samples(3).enumerated().map { index, sample in
            let payload = SealedPayload(keyID: index == 0 ? "old" : "new", bytes: sample.payload.bytes)
            return SealedNotification(notification: sample.notification, payload: payload)
        }
        try await store.append(samples)
        #expect(try await store.payloadKeys(now: noon) == ["old": 1, "new": 2])
    }
}
