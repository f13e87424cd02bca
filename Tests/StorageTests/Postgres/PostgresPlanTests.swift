import Domain
import Foundations
import StackKit
import TestSupport
import Testing

@testable import Storage

@Suite(.stores) struct PostgresPlanTests {
    /// Rows of one sender for one user, oldest first; every hundredth was revoked.
    private func fill(_ test: TestStore, _ count: Int) async throws {
        let (start, end) = (noon.milliseconds, (noon + .seconds(86400)).milliseconds)
        try await test.execute(
            """
            INSERT INTO notifications (id, sender, recipient, presentation, created_at, expires_at, revoked_at)
            SELECT (lpad(to_hex(\(start) + i), 12, '0') || '70008' || lpad(to_hex(i), 15, '0'))::uuid,
                'tests', 'alice', 0, \(start) + i, \(end), CASE WHEN i % 100 = 0 THEN \(start) END
            FROM generate_series(1, \(count)) AS i
            """)
        try await test.execute(
            """
            INSERT INTO payloads (notification_id, key_id, sealed, purge_at)
            SELECT id, 'k1', '\\x01', expires_at FROM notifications
            """)
    }

    @Test func `Of one recipient's only the sender's own are met`() async throws {
        let test = try await StoreKind.postgres.openTest()
        try await fill(test, 3000)
        try await test.execute("VACUUM ANALYZE notifications")
        let query = NotificationQuery(sender: "others", recipient: .alice, limit: 10)
        let plan = try await NotificationScan(query, now: noon).sql.plan(test.url)
        let scans = plan.split(separator: "\n").filter { $0.contains("Scan") && !$0.contains("Subquery") }
        #expect(scans.count == 1 && scans[0].contains("using notifications_sender_recipient"), "\(plan)")
        // A filter in place of this condition would mean that rows of others are read and thrown away.
        let condition = plan.split(separator: "\n").first { $0.contains("Index Cond") } ?? ""
        let names = ["sender", "recipient", "id"]
        #expect(names.allSatisfy(condition.contains), "\(plan)")
    }

    /// Reading for outcomes costs what it examines, whatever the size of the table.
    @Test func `Outcomes are read along an index`() async throws {
        let test = try await StoreKind.postgres.openTest()
        try await fill(test, 20_000)
        try await test.execute("UPDATE notifications SET not_before = created_at WHERE revoked_at IS NOT NULL")
        try await test.execute("VACUUM ANALYZE notifications")
        let plans: [OutcomePass.Order: (index: String, rows: Int)] = [
            .accepted: ("using notifications_pkey", 1000), .scheduled: ("using notifications_scheduled", 200),
        ]
        for (order, (index, rows)) in plans {
            let query = OutcomeQuery(
                order: order, after: OutcomeCursor(before: noon), before: noon + .seconds(86_400), limit: 100)
            let plan = try await query.sql.plan(test.url, analyze: true)
            let scans = plan.split(separator: "\n").filter { $0.contains("Scan") && !$0.contains("Subquery") }
            #expect(scans.count == 1 && scans[0].contains(index) && !plan.contains("Sort"), "\(plan)")
            #expect(scans.first?.contains("rows=\(rows)") == true || plan.contains("rows=\(rows).00"), "\(plan)")
        }
    }

    @Test func `A first attempt is looked up by the keys of two tables`() async throws {
        let test = try await StoreKind.postgres.openTest()
        try await fill(test, 3000)
        try await test.execute("UPDATE notifications SET attempt = 1")
        try await test.execute(
            "INSERT INTO outbox (notification_id, due_at) SELECT id, created_at + 5000 FROM notifications")
        try await test.execute("VACUUM ANALYZE notifications, outbox")
        let found = try await PostgresTestDatabase.psql(test.url, "SELECT id FROM notifications ORDER BY id LIMIT 100")
        let ids = found.split(separator: "\n").compactMap { NotificationID(String($0)) }
        // Statements of the test itself are counted late, so they are awaited.
        let tables = "('notifications', 'outbox')"
        let whole = "SELECT sum(seq_scan) FROM pg_stat_user_tables WHERE relname IN \(tables)"
        let keyed = "SELECT sum(idx_scan) FROM pg_stat_user_indexes WHERE indexrelname = 'outbox_pkey'"
        let (scans, lookups) = (
            try await PostgresTestDatabase.psql(test.url, whole), try await PostgresTestDatabase.psql(test.url, keyed)
        )
        #expect(try await test.store.begin(ids, now: noon).plans.count == 100)
        let isKeyed = try await eventually {
            Int(try await PostgresTestDatabase.psql(test.url, keyed)) == Int(lookups).map { $0 + 100 }
        }
        #expect(isKeyed)
        #expect(try await PostgresTestDatabase.psql(test.url, whole) == scans)
    }

    /// One call of each new method that reads or changes rows by something else than their primary key.
    private func useAll(_ store: any Store) async throws {
        for recipient in [nil, UserName.alice] {
            let query = NotificationQuery(sender: "tests", recipient: recipient, status: .revoked, limit: 10)
            let page = try await store.page(query, now: noon)
            #expect(page.records.count == 10)
        }
        let inbox = try await store.inbox(of: .alice, unreadOnly: true, after: nil, limit: 10, now: noon)
        #expect(inbox.entries.count == 10 && inbox.unread == 2970)
        let sent = SealedNotification.sample()
        _ = try await store.append([sent], once: .sample(of: [sent], expiresAt: noon + .seconds(1)), now: noon)
        _ = try await store.append([sent], once: .sample(of: [sent]), now: noon)
        let revoked = try await store.revoke(sent.id, sender: "tests", now: noon)
        #expect(revoked)
        _ = try await store.purge(limit: 10, now: noon + .seconds(86400))
        _ = try await store.purge(limit: 10, now: noon + .seconds(86400) + RetentionPolicy.tombstone)
        let ids = (0..<3).map { _ in SealedNotification.sample() }
        try await store.append(ids)
        try await store.confirm(ids.map(\.id), until: noon)
        _ = try await store.leasePublished(limit: 5, due: due, now: due, until: due)
        let plan = try await store.claim([ids[0].id], now: noon)[ids[0].id]
        let outcome = DispatchOutcome(id: ids[0].id, attempt: plan?.attempt ?? 0, deliveries: [], nextTry: due)
        try await store.record([outcome])
        _ = try await store.reopen([ids[1].id: []], now: noon)
        _ = try await store.begin(ids.map(\.id), now: noon)
        try await store.enter(ids.map(\.id), now: noon)
        _ = try await store.lease(limit: 5, now: noon, until: noon)
        _ = try await store.backlog(now: noon)
        #expect(try await store.census(since: noon, now: noon).accepted > 2900)
        for recipient in [nil, UserName.alice] {
            _ = try await store.page(OperatorQuery(recipient: recipient, onlyFailed: true, since: noon, limit: 10))
        }
        #expect(try await store.life(of: ids[0].id) != nil)
    }

    @Test func `Every index is used and no table is read whole`() async throws {
        let test = try await StoreKind.postgres.openTest()
        try await fill(test, 3000)
        // What the planner knows of tables in use: one sender, so that an index by sender seems to be of no use.
        try await test.execute("VACUUM ANALYZE notifications, payloads")
        let scans = "SELECT sum(seq_scan) FROM pg_stat_user_tables"
        let before = try await PostgresTestDatabase.psql(test.url, scans)
        let store = try #require(test.store as? PostgresStore)
        try await useAll(store)
        try await store.useDevices()
        try await store.useRefreshTokens()
        let unused = """
            SELECT coalesce(string_agg(indexrelname, ' ' ORDER BY indexrelname), '') FROM pg_stat_user_indexes
            WHERE idx_scan = 0 AND indexrelname IN ('notifications_sender', 'notifications_recipient',
                'payloads_to_destroy', 'payloads_to_forget', 'idempotency_keys_expiry', 'registrations_owner',
                'installations_handle', 'outbox_due', 'outbox_published',
                'installations_pkey', 'installations_id', 'registrations_id', 'installations_new_handle',
                'registrations_new_handle', 'device_leases_pkey', 'device_leases_until',
                'device_leases_claimant', 'notifications_sender_recipient', 'installations_seen',
                'installations_expiry', 'installations_owner_id', 'registrations_seen', 'refresh_tokens_pkey',
                'refresh_tokens_owner', 'refresh_tokens_expiry')
            """
        var left = ""
        // The server counts with a delay.
        let isUsed = try await eventually {
            left = try await PostgresTestDatabase.psql(test.url, unused)
            return left.isEmpty
        }
        #expect(isUsed, "not used: \(left)")
        let after = try await PostgresTestDatabase.psql(test.url, scans)
        #expect(after == before)
    }

    @Test func `What happens to a notification touches no index`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let sent = try await test.store.appendClaimed()
        let delivery = Delivery.sample(.apple, .sent)
        try await test.store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: [delivery])])
        try await test.store.confirm([sent.id], until: due)
        try await test.store.markRead(sent.id, at: noon)
        _ = try await test.store.revoke(sent.id, sender: "tests", now: noon)
        let updates = """
            SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'notifications'
            """
        let areHot = try await eventually { try await PostgresTestDatabase.psql(test.url, updates) == "4|4" }
        #expect(areHot)
        // One row that came and went: noting late that it was published wrote nothing.
        let entries = "SELECT n_tup_ins, n_tup_upd, n_tup_del FROM pg_stat_user_tables WHERE relname = 'outbox'"
        let cameAndWent = try await eventually { try await PostgresTestDatabase.psql(test.url, entries) == "1|0|1" }
        #expect(cameAndWent)
    }
}

extension SQL {
    /// PostgreSQL's plan for a statement, made without the values, as the store does.
    fileprivate func plan(_ url: String, analyze: Bool = false) async throws -> String {
        var (types, values): ([String], [String]) = ([], [])
        for case .value(let type, let value) in parameters {
            switch type {
            case .bool: types.append("boolean")
            case .integer: types.append("bigint")
            case .text: types.append("text")
            case .bytes: types.append("bytea")
            case .id: types.append("uuid")
            }
            switch value {
            case .integer(let number): values.append("\(number)")
            case .text(let text): values.append("'\(text)'")
            case .id(let id): values.append("'\(id)'")
            case .null, .bool, .bytes: values.append("NULL")
            }
        }
        return try await PostgresTestDatabase.psql(
            url,
            """
            SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off;
            SET plan_cache_mode = force_generic_plan;
            PREPARE page (\(types.joined(separator: ", "))) AS \(text(.postgres));
            EXPLAIN \(analyze ? "ANALYZE" : "") EXECUTE page (\(values.joined(separator: ", ")))
            """)
    }
}
