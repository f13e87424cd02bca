import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct PurgeTests {
    private static let expiry = noon + .seconds(3600)
    private static let end = expiry + RetentionPolicy.tombstone

    /// Works off all that is due, batch by batch, as a service does.
    private static func purgeAll(_ store: any Store, limit: Int, now: Timestamp) async throws -> PurgeReport {
        var sum = PurgeReport()
        for _ in 0..<1000 {
            let report = try await store.purge(limit: limit, now: now)
            #expect(report.largest <= limit)
            if report.largest == 0 { return sum }
            sum.payloads += report.payloads
            sum.answers += report.answers
            sum.notifications += report.notifications
            sum.keys += report.keys
        }
        Issue.record("Purging does not end.")
        return sum
    }

    @Test(arguments: conformingStores)
    func `At its expiry a payload is destroyed, and its row stays`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        #expect(try await store.purge(limit: 10, now: Self.expiry - .milliseconds(1)) == PurgeReport())
        #expect(try await store.find(sent.id, recipient: .alice)?.payload?.bytes == [1, 2, 3])
        #expect(try await store.purge(limit: 10, now: Self.expiry) == PurgeReport(payloads: 1))
        let found = try #require(try await store.find(sent.id, recipient: .alice))
        #expect(found.payload == nil && !found.isRevoked && found.expiresAt == Self.expiry)
        let record = try #require(try await store.record(sent.id, sender: "tests"))
        #expect(record.status(at: Self.expiry) == .expired)
        #expect(try await store.purge(limit: 10, now: Self.expiry) == PurgeReport())
    }

    @Test(arguments: conformingStores)
    func `An empty payload is destroyed like any other`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample(payload: [])
        try await store.append([sent])
        #expect(try await store.purge(limit: 10, now: Self.expiry) == PurgeReport(payloads: 1))
        #expect(try await store.purge(limit: 10, now: Self.expiry) == PurgeReport())
        #expect(try await store.find(sent.id, recipient: .alice)?.payload == nil)
    }

    @Test(arguments: conformingStores)
    func `A tombstone's time later the row is gone, with all that hung on it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        try await store.markRead(sent[0].id, at: noon)
        _ = try await store.purge(limit: 10, now: Self.expiry + .seconds(1))
        #expect(try await store.purge(limit: 10, now: Self.end - .milliseconds(1)) == PurgeReport())
        #expect(try await store.purge(limit: 10, now: Self.end) == PurgeReport(notifications: 1))
        #expect(try await store.find(sent[0].id, recipient: .alice) == nil)
        #expect(try await store.record(sent[0].id, sender: "tests") == nil)
        #expect(try await store.claim([sent[0].id], now: noon).plans.isEmpty)
        #expect(try await store.backlog(now: due).count == 1)
        #expect(try await store.lease(limit: 9, now: due, until: due).map(\.id) == [sent[1].id])
        let page = try await store.page(NotificationQuery(sender: "tests"), now: noon)
        #expect(page.records.map(\.id) == [sent[1].id])
        #expect(try await store.revoke(sent[0].id, sender: "tests", now: noon) == false)
    }

    @Test(arguments: conformingStores)
    func `What was never purged in time is worked off too`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(7)
        try await store.append(sent)
        let sum = try await Self.purgeAll(store, limit: 3, now: Self.end + .seconds(1000))
        #expect(sum == PurgeReport(payloads: 7, notifications: 7))
        for one in sent { #expect(try await store.find(one.id, recipient: .alice) == nil) }
        #expect(try await store.backlog(now: due).count == 0)
    }

    @Test(arguments: conformingStores)
    func `A revoked one's row goes when the others' do, whenever it was revoked`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = (0..<2).map { _ in SealedNotification.sample() }
        try await store.append(sent)
        _ = try await store.revoke(sent[0].id, sender: "tests", now: noon)
        #expect(try await store.purge(limit: 10, now: Self.expiry) == PurgeReport(payloads: 1))
        _ = try await store.revoke(sent[1].id, sender: "tests", now: Self.expiry)
        #expect(try await store.purge(limit: 10, now: Self.end - .milliseconds(1)) == PurgeReport())
        for one in sent { #expect(try await store.find(one.id, recipient: .alice)?.isRevoked == true) }
        #expect(try await store.purge(limit: 10, now: Self.end) == PurgeReport(notifications: 2))
        for one in sent { #expect(try await store.find(one.id, recipient: .alice) == nil) }
    }

    private static let refusals: [StoreKind: [String]] = [
        .sqlite: [
            "CREATE TRIGGER odd BEFORE UPDATE ON payloads WHEN old.key_id = 'odd' BEGIN SELECT RAISE(ABORT, 'odd'); END"
        ],
        .postgres: [
            "CREATE FUNCTION odd() RETURNS trigger LANGUAGE plpgsql AS "
                + "$$ BEGIN IF old.key_id = 'odd' THEN RAISE 'odd'; END IF; RETURN new; END $$",
            "CREATE TRIGGER odd BEFORE UPDATE ON payloads FOR EACH ROW EXECUTE FUNCTION odd()",
        ],
    ]

    @Test(arguments: conformingStores)
    func `Rows that the database refuses to change keep no others, and are told of`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.samples(9)
        let request = IdempotentRequest.sample(of: sent, expiresAt: noon + .seconds(10))
        #expect(try await test.store.append(sent, once: request, now: noon) == nil)
        // The two that are due first.
        try await test.execute(
            "UPDATE payloads SET key_id = 'odd' WHERE notification_id IN "
                + "(SELECT id FROM notifications ORDER BY id LIMIT 2)")
        for statement in try #require(Self.refusals[kind]) { try await test.execute(statement) }
        let report = try await test.store.purge(limit: 100, now: Self.expiry + .seconds(100))
        #expect(report.payloads == 7 && report.keys == 1)
        #expect(report.refusal?.code == .failed)
    }

    @Test(arguments: conformingStores)
    func `What has not expired is untouched`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let old = (0..<3).map { _ in SealedNotification.sample() }
        let new = (0..<3).map { _ in SealedNotification.sample(expiresAt: Self.end + .seconds(100)) }
        try await store.append(old + new)
        let sum = try await Self.purgeAll(store, limit: 100, now: Self.end)
        #expect(sum == PurgeReport(payloads: 3, notifications: 3))
        for one in new {
            #expect(try await store.find(one.id, recipient: .alice)?.payload?.bytes == [1, 2, 3])
        }
        #expect(try await store.backlog(now: due).count == 3)
    }

    @Test(arguments: conformingStores)
    func `Keys go at the end of their time`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        let short = IdempotentRequest.sample("short", of: [sent[0]], expiresAt: noon + .seconds(10))
        let long = IdempotentRequest.sample("long", of: [sent[1]], expiresAt: noon + .seconds(20))
        #expect(try await store.append([sent[0]], once: short, now: noon) == nil)
        #expect(try await store.append([sent[1]], once: long, now: noon) == nil)
        #expect(try await store.purge(limit: 10, now: noon + .milliseconds(9999)) == PurgeReport())
        #expect(try await store.purge(limit: 10, now: noon + .seconds(10)) == PurgeReport(keys: 1))
        // Asked for a time when it was valid: it is no longer there at all.
        #expect(try await store.request(short.key, now: noon) == nil)
        #expect(try await store.request(long.key, now: noon) == long)
        #expect(try await store.find(sent[0].id, recipient: .alice)?.payload != nil)
    }

    @Test(arguments: conformingStores)
    func `The limit holds for each kind by itself`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = (0..<5).map { _ in SealedNotification.sample() }
        for (index, one) in sent.enumerated() {
            let request = IdempotentRequest.sample("key-\(index)", of: [one])
            #expect(try await store.append([one], once: request, now: noon) == nil)
        }
        #expect(try await store.purge(limit: 0, now: Self.expiry) == PurgeReport())
        for count in [2, 2, 1, 0] {
            #expect(try await store.purge(limit: 2, now: Self.expiry) == PurgeReport(payloads: count))
        }
        for count in [2, 2, 1, 0] {
            let report = try await store.purge(limit: 2, now: Self.end)
            #expect(report == PurgeReport(notifications: count, keys: count))
        }
    }

    @Test(arguments: conformingStores)
    func `A batch of a thousand is done in one call`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = (0..<1001).map { _ in SealedNotification.sample() }
        try await store.append(sent)
        #expect(try await store.purge(limit: 1000, now: Self.expiry) == PurgeReport(payloads: 1000))
        #expect(try await store.purge(limit: 1000, now: Self.expiry) == PurgeReport(payloads: 1))
        #expect(try await store.purge(limit: 1001, now: Self.end) == PurgeReport(notifications: 1001))
    }

    @Test(arguments: conformingStores)
    func `Several at once do each thing once, beside live traffic`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let old = (0..<60).map { _ in SealedNotification.sample() }
        let new = (0..<60).map { _ in SealedNotification.sample(expiresAt: Self.end + .seconds(100)) }
        try await store.append(old)
        let sums = try await withThrowingTaskGroup { group in
            for one in new {
                group.addTask {
                    try await store.append([one])
                    return PurgeReport()
                }
            }
            for _ in 0..<6 { group.addTask { try await Self.purgeAll(store, limit: 7, now: Self.end) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // One that skips what another holds may end early; the rest is left for the next round.
        let rest = try await Self.purgeAll(store, limit: 7, now: Self.end)
        #expect(sums.reduce(rest.payloads) { $0 + $1.payloads } == 60)
        #expect(sums.reduce(rest.notifications) { $0 + $1.notifications } == 60)
        for one in old { #expect(try await store.find(one.id, recipient: .alice) == nil) }
        for one in new { #expect(try await store.find(one.id, recipient: .alice)?.payload != nil) }
    }
}
