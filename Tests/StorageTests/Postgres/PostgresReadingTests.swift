import Domain
import StackKit
import TestSupport
import Testing

@testable import Storage

@Suite(.stores) struct PostgresReadingTests {
    @Test func `Showing touches no index`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let sent = SealedNotification.sample()
        try await test.store.append([sent])
        for _ in 0..<2 { try await test.store.markShown(sent.id, at: noon) }
        let updates = """
            SELECT n_tup_upd, n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'notifications'
            """
        let isHot = try await eventually { try await PostgresTestDatabase.psql(test.url, updates) == "1|1" }
        #expect(isHot)
    }

    @Test func `No table is read whole`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let sent = (0..<3000).map { _ in SealedNotification.sample() }
        try await test.store.append(sent)
        try await test.execute("VACUUM ANALYZE notifications, payloads")
        let scans = "SELECT sum(seq_scan) FROM pg_stat_user_tables"
        let before = try await PostgresTestDatabase.psql(test.url, scans)
        let ids = sent.prefix(20).map(\.id)
        #expect(try await test.store.find(ids, recipient: .alice).count == 20)
        #expect(try await test.store.states(ids, recipient: .alice).count == 20)
        #expect(try await test.store.unreadCount(of: .alice, now: noon) == 3000)
        try await test.store.markShown(ids[0], at: noon)
        try await test.store.markRead(through: sent.map(\.id).max() ?? ids[0], of: .alice, at: noon)
        #expect(try await test.store.unreadCount(of: .alice, now: noon) == 0)
        // The server counts with a delay: the lookups by key come after the scans that there might have been.
        let lookups = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = 'notifications_recipient'"
        let isCounted = try await eventually {
            (Int(try await PostgresTestDatabase.psql(test.url, lookups)) ?? 0) >= 4
        }
        #expect(isCounted)
        let after = try await PostgresTestDatabase.psql(test.url, scans)
        #expect(after == before)
    }
}
