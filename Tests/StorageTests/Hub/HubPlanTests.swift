import Domain
import Foundations
import GRDB
import StackKit
import Testing

@testable import Storage

@Suite(.stores) struct HubPlanTests {
    /// What the tables are called in statements.
    private static let names = [
        "hub_hubs", "hub_registrations", "hub_tags", "hub_retired_ids", "hub_installations", "hub_schedules", "r", "t",
        "i", "last", "k",
    ]

    @Test func `SQLite finds all rows by an index, and sorts nothing`() async throws {
        let store = try TracedStore(.hub)
        try await HubTables(store).useAll()
        #expect(store.statements.count > 25)
        let queue = try DatabaseQueue()
        try await queue.write { db in
            db.add(function: SQLiteTransaction.fromHex)
            try StorageSchema.hub.create(db)
        }
        for statement in store.statements {
            let steps: [String] = try await queue.read { db in
                let values = [Int](repeating: 0, count: statement.count { $0 == "?" })
                return try Row.fetchAll(
                    db, sql: "EXPLAIN QUERY PLAN \(statement)", arguments: StatementArguments(values)
                ).map { $0["detail"] }
            }
            let scans = steps.filter { step in Self.names.contains { (step + " ").hasPrefix("SCAN \($0) ") } }
            #expect(scans.isEmpty, "\(statement): \(steps)")
            #expect(!steps.contains { $0.contains("TEMP B-TREE FOR ORDER BY") }, "\(statement): \(steps)")
        }
    }

    /// Devices of one hub with a tag that all have and one of their own.
    private func fill(_ url: String, _ count: Int) async throws {
        _ = try await PostgresTestDatabase.psql(
            url,
            """
            INSERT INTO hub_registrations (hub, id, version, format, is_template, tags, handle, updated_at, document)
            SELECT 'hub', 'id-' || i, 1, 'apple', false, 'all,user:' || i, 'H' || i, 1, ''
            FROM generate_series(1, \(count)) AS i
            """)
        _ = try await PostgresTestDatabase.psql(
            url,
            """
            INSERT INTO hub_tags SELECT 'hub' || chr(1) || 'apple' || chr(1) || tag, sequence
            FROM hub_registrations CROSS JOIN LATERAL (VALUES (''), ('all'), ('user:' || substr(id, 4))) AS tags (tag)
            """)
    }

    @Test(arguments: [true, false])
    func `A send reads its devices and no others, whatever PostgreSQL knows`(_ isAnalyzed: Bool) async throws {
        let url = try await StoreKind.postgres.freshURL()
        _ = try await StoreKind.runHub(url)
        try await fill(url, 20_000)
        if isAnalyzed { _ = try await PostgresTestDatabase.psql(url, "VACUUM ANALYZE hub_registrations, hub_tags") }
        let sql = HubFind.sql(keys: ["k"], after: 0, limit: 500).text(.postgres)
        let key = { (tag: String) in "'hub' || chr(1) || 'apple' || chr(1) || '\(tag)'" }
        let plan = try await PostgresTestDatabase.psql(
            url,
            """
            SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_hashjoin = off;
            SET enable_mergejoin = off; SET enable_sort = off; SET jit = off; SET plan_cache_mode = force_generic_plan;
            PREPARE find (text[], bigint, bigint, bigint) AS \(sql);
            EXPLAIN ANALYZE EXECUTE find (ARRAY[\(key("user:7")), \(key("all"))], 0, 0, 500)
            """)
        #expect(plan.contains("using hub_tags_pkey") && plan.contains("using hub_registrations_pkey"), "\(plan)")
        #expect(!plan.contains("Seq Scan") && !plan.contains("Sort") && !plan.contains("Rows Removed"), "\(plan)")
        // One of the first tag, and of the second the page and one more.
        let top = plan.split(separator: "\n").first ?? ""
        #expect(top.contains("Nested Loop") && top.contains("rows=502"), "\(plan)")
    }

    @Test(arguments: [true, false])
    func `PostgreSQL uses every index and reads no table whole`(_ isAnalyzed: Bool) async throws {
        let url = try await StoreKind.postgres.freshURL()
        let tables = try await StoreKind.runHub(url)
        try await fill(url, 3000)
        if isAnalyzed { _ = try await PostgresTestDatabase.psql(url, "VACUUM ANALYZE hub_registrations, hub_tags") }
        let scans = """
            SELECT sum(seq_scan) FROM pg_stat_user_tables
            WHERE relname IN ('hub_registrations', 'hub_tags', 'hub_installations', 'hub_schedules', 'hub_retired_ids')
            """
        let before = try await PostgresTestDatabase.psql(url, scans)
        try await tables.useAll()
        let unused = """
            SELECT coalesce(string_agg(indexrelname, ' ' ORDER BY indexrelname), '') FROM pg_stat_user_indexes
            WHERE idx_scan = 0 AND indexrelname IN ('hub_registrations_pkey', 'hub_registrations_id',
                'hub_registrations_handle', 'hub_registrations_installation', 'hub_tags_pkey', 'hub_installations_pkey',
                'hub_installations_expiry', 'hub_schedules_pkey', 'hub_schedules_due', 'hub_retired_ids_id')
            """
        var left = ""
        // The server counts with a delay.
        let isUsed = try await eventually {
            left = try await PostgresTestDatabase.psql(url, unused)
            return left.isEmpty
        }
        #expect(isUsed, "not used: \(left)")
        #expect(try await PostgresTestDatabase.psql(url, scans) == before)
    }
}

extension HubTables {
    /// Calls that change or find rows, without those that read whole tables by their meaning.
    func useAll() async throws {
        for id in ["a", "b", "c"] { try await put(.sample(id, tags: ["t", id])) }
        try await put(.sample("a", tags: ["u"], updatedAt: noon + .seconds(1)), .version(1))
        #expect(try await registration("b", hub: "hub") != nil)
        _ = try await removeRegistration("c", hub: "hub", condition: .any)
        #expect(try await put(.sample("c")) == .retired)
        #expect(try await registrations(handles: ["A", "B"], hub: "hub").count == 2)
        try await remember([HubPushKey(hub: "hub", handle: "A", key: "k")])
        #expect(try await ids([["t", "u"]]) == ["a", "b"])
        let both = HubAudience(formats: ["apple"], tagSets: [["t"], ["b"]]) { $0.isSuperset(of: ["t", "b"]) }
        #expect(try await targets(hub: "hub", of: both, now: noon).registrations.map(\.id) == ["b"])
        for id in ["i1", "i2", "i3"] { try await install(id, ["", "s"], handle: id, expiresAt: noon + .seconds(1)) }
        try await install("i1", ["", "s"], handle: "i1")
        #expect(try await installation("i1", hub: "hub", now: noon) != nil)
        #expect(try await removeInstallation("i3", hub: "hub") != nil)
        #expect(try await remove(handle: "i1", hub: "hub", ifUpdatedBefore: noon + .seconds(1)).count == 2)
        #expect(try await removeExpired(limit: 9, now: noon + .seconds(9)) == 1)
        try await add(HubSchedule(id: "s", hub: "hub", dueAt: noon, request: []))
        #expect(try await nextSchedule() == noon)
        #expect(try await leaseDueSchedules(limit: 9, claim: 1, now: noon).count == 1)
        #expect(try await extendSchedule("s", claim: 1, place: 1, until: noon + .seconds(1)))
        try await makeScheduleDue("s", claim: 1, at: noon)
        #expect(try await setAsideSchedule("s", claim: 1, now: noon))
        #expect(try await removeSchedule("s", hub: "hub"))
        _ = try await replacePushToken(issuedAt: nil, by: SharedPushToken(issuedAt: noon, sealed: [1]), of: "k")
        #expect(try await pushToken(of: "k").token?.sealed == [1])
        try await importAll()
        try await save(HubRow(name: "Other", description: [1]))
        try await put(.sample("a"), hub: "other")
        try await removeHub("Other", now: noon) { _ in }
    }
    /// A file with a registration that the hub has, a new one, and an installation.
    private func importAll() async throws {
        let time = noon + .seconds(20)
        var batch = HubImportBatch(
            start: try await beginImport(of: "f", hub: "hub", exportedAt: time, assumed: time, restarts: false))
        batch.registrations = [.sample("a", tags: ["v"], updatedAt: time), .sample("n", tags: ["v"], updatedAt: time)]
        batch.installations = [
            .init(id: "i9", lines: 1, handles: ["i9"], ids: [:]) { _ in
                (HubInstallationRow(document: [], updatedAt: time, expiresAt: nil), [.part("", updatedAt: time)])
            }
        ]
        var result = try await importBatch(batch, of: "f", hub: "hub")
        #expect(result.progress.counts.imported == 3)
        batch.start = result.progress
        result = try await importBatch(batch, of: "f", hub: "hub")
        #expect(result.progress.counts.unchanged == 3)
        #expect(try await removeInstallation("i9", hub: "hub") != nil)
    }
}
