import Domain
import Foundations
import StackKit
import TestSupport
import Testing

@testable import Storage

/// What the statements of the hot paths read, at a realistic number of rows and with the statistics of `ANALYZE`.
/// The store plans each of them once, without the values (`plan_cache_mode`).
@Suite(.stores) struct PostgresHotPathTests {
    private static let rows = 20_000

    /// Notifications to 200 users, of which every tenth waits for a dispatcher.
    private func fill(_ test: TestStore) async throws {
        let start = noon.milliseconds
        try await test.execute(
            """
            INSERT INTO notifications (id, sender, recipient, presentation, created_at, expires_at)
            SELECT (lpad(to_hex(\(start) + i), 12, '0') || '70008' || lpad(to_hex(i), 15, '0'))::uuid,
                'tests', 'user' || i % 200, 0, \(start), \((noon + .seconds(86400)).milliseconds)
            FROM generate_series(1, \(Self.rows)) AS i;
            INSERT INTO payloads (notification_id, key_id, sealed, purge_at)
            SELECT id, 'k1', '\\x01', expires_at FROM notifications;
            INSERT INTO outbox (notification_id, due_at, republish_at)
            SELECT id, \(Int64.max), \((noon + .seconds(86400)).milliseconds)
            FROM notifications WHERE recipient LIKE '%7';
            INSERT INTO follow_ups (notification_id, kind, due_at)
            SELECT id, 1, \((noon + .seconds(86400)).milliseconds) FROM notifications WHERE recipient LIKE '%7'
            """)
        try await test.execute("VACUUM ANALYZE")
    }

    /// The rows or entries that were read of each table without an index, and of each index. Sessions that have ended
    /// are counted completely.
    private func read(_ url: String) async throws -> [String: Int] {
        let lines = try await PostgresTestDatabase.psql(
            url,
            """
            SELECT relname, seq_tup_read FROM pg_stat_user_tables WHERE relname <> 'schema_migrations'
            UNION ALL SELECT indexrelname, idx_tup_read FROM pg_stat_user_indexes
            """
        ).split(separator: "\n").map { $0.split(separator: "|") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), Int($0[1]) ?? 0) })
    }

    /// One call or more of each operation, for few rows.
    private func useHotPaths(_ store: any Store) async throws {
        let sent = (0..<4).map { _ in SealedNotification.sample(to: .bob, remind: [.seconds(60)]) }
        let ids = sent.map(\.id)
        try await store.append(sent)
        try await store.confirm(ids, until: due)
        let claims = try await store.claim(ids, now: noon)
        let delivery = Delivery(
            platform: .apple, state: .sent, attempts: 1, updatedAt: noon, isWithdrawnOnRead: true)
        let outcomes = ids.map {
            DispatchOutcome(id: $0, attempt: claims[$0]?.attempt ?? 0, deliveries: [delivery], pushedAt: noon)
        }
        try await #expect(store.record(outcomes).isEmpty)
        try await #expect(store.record([DispatchOutcome(id: ids[0], attempt: 9, deliveries: [])]) == [ids[0]])
        try await read(ids, of: store)
        try await followUp(ids, of: store)
        try await #expect(store.lease(limit: 5, now: noon, until: due).isEmpty)
        try await #expect(store.leasePublished(limit: 5, due: noon, now: noon, until: due).entries.isEmpty)
        try await #expect(store.records(ids).count == 4)
        try await #expect(store.revoke(ids[3], sender: "tests", now: noon))
        let query = NotificationQuery(sender: "tests", recipient: .bob, limit: 5)
        try await #expect(store.page(query, now: noon).records.count == 4)
        try await #expect(store.page(NotificationQuery(sender: "tests", limit: 5), now: noon).records.count == 5)
        try await #expect(store.purge(limit: 5, now: noon) == PurgeReport())
    }

    private func read(_ ids: [NotificationID], of store: any Store) async throws {
        try await #expect(store.find(ids, recipient: .bob).count == 4)
        try await #expect(store.states(ids, recipient: .bob).count == 4)
        try await store.markRead(ids.dropLast(2), at: noon)
        try await store.markShown(ids[0], at: noon)
        try await #expect(store.unreadCount(of: .bob, now: noon) == 2)
        let inbox = try await store.inbox(of: .bob, unreadOnly: true, after: nil, limit: 5, now: noon)
        #expect(inbox.entries.count == 2)
    }

    private func followUp(_ ids: [NotificationID], of store: any Store) async throws {
        let due = try await store.leaseFollowUps(limit: 5, now: noon + .seconds(1))
        #expect(Set(due.map(\.id)) == Set(ids.dropLast(2)))
        let followUps = due.map { FollowUp(id: $0.id, kind: .withdrawal) }
        let claims = try await store.claimFollowUps(followUps, now: noon)
        #expect(claims.plans.count == 2)
        try await store.recordFollowUps(
            followUps.map { FollowUpOutcome(followUp: $0, attempt: 1, deliveries: [], nextTry: nil) })
    }

    @Test func `No statement reads rows of others`() async throws {
        try await PostgresTestDatabase.with { url in
            try await withRunningStore(url) { test in try await fill(test) }
            let before = try await read(url)
            try await withRunningStore(url, withdrawals: .read) { test in try await useHotPaths(test.store) }
            var after = before
            let isCounted = try await eventually {
                after = try await read(url)
                return after != before
            }
            #expect(isCounted)
            // About eighty operations of at most five rows, on up to four indexes.
            let many = after.map { ($0.key, $0.value - before[$0.key, default: 0]) }.filter { $0.1 > 150 }
            #expect(many.isEmpty)
        }
    }

    /// The second version of every row fits beside the first one. At a fill factor of 70 % it does not. Whether later
    /// versions fit depends on when PostgreSQL prunes the page.
    @Test func `Claims of whole pages touch no index`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let sent = (0..<256).map { _ in
            SealedNotification.sample(traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        }
        try await test.store.append(sent)
        _ = try await test.store.claim(sent.map(\.id), now: noon)
        let updates = """
            SELECT n_tup_upd, n_tup_upd - n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'notifications'
            """
        var counts: [Int] = []
        let areCounted = try await eventually {
            counts = try await PostgresTestDatabase.psql(test.url, updates).split(separator: "|").compactMap { Int($0) }
            return counts.first == sent.count
        }
        #expect(areCounted)
        #expect(counts.last == 0)
    }
}
