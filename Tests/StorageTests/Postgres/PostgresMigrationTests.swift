import Logging
import SecurePushCore
import Testing

@testable import Storage

struct PostgresMigrationTests {
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let id = NotificationID(at: noon)

    /// The statements that create a database of an earlier version.
    private func schema(upTo version: Int) -> [String] {
        let list =
            "CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz)"
        return [list]
            + PostgresMigration.all.filter { $0.version <= version }.flatMap { migration in
                migration.statements + [
                    "INSERT INTO schema_migrations VALUES (\(migration.version), '\(migration.name)')"
                ]
            }
    }

    /// A database as version 1 left it, with one row in each table.
    private func makeVersionOne(_ url: String) throws {
        let rows = [
            """
            INSERT INTO notifications (id, sender, recipient, presentation, created_at, expires_at)
            VALUES ('\(id)', 'tests', 'alice', 0, \(noon.milliseconds), \((noon + .seconds(60)).milliseconds))
            """,
            "INSERT INTO payloads VALUES ('\(id)', 'k1', '\\x010203')",
            "INSERT INTO outbox VALUES ('\(id)', \(noon.milliseconds))",
            "INSERT INTO registrations VALUES ('r1', 'alice', 'apns', 'h1', \(noon.milliseconds))",
        ]
        _ = try PostgresTestDatabase.psql(url, (schema(upTo: 1) + rows).joined(separator: ";\n"))
    }

    @Test func laterStepsKeepEverything() async throws {
        try await PostgresTestDatabase.with { url in
            try makeVersionOne(url)
            let report = try await PostgresStore.migrate(uri: url, logger: quiet)
            let applied = [
                "0002_sender_side", "0003_redelivery", "0004_sender_recipient", "0005_devices", "0006_follow_ups",
                "0007_silent_pushes", "0008_reading", "0009_device_life", "0010_sent_reminders",
                "0011_encryption_keys", "0012_room_for_updates", "0013_outcomes", "0014_device_places",
                "0015_device_limit", "0016_replaced_tokens",
            ]
            #expect(report == MigrationReport(applied: applied, version: 16))
            try await withRunningStore(url) { test in
                let found = try #require(try await test.store.find(id, recipient: .alice))
                #expect(found.payload == SealedPayload(keyID: "k1", bytes: [1, 2, 3]))
                let record = try await test.store.record(id, sender: "tests")
                #expect(record?.recipient == .alice)
                let registration = try await test.store.registration("r1", owner: .alice)
                #expect(registration?.tags == [])
                let platforms = try await test.store.platforms(of: [.alice])
                #expect(platforms == [.alice: [.apple]])
                let leased = try await test.store.lease(limit: 2, now: noon, until: noon)
                #expect(leased.map(\.id) == [id])
            }
        }
    }

    @Test func whatIsThereAlreadyIsPurgedInItsTime() async throws {
        try await PostgresTestDatabase.with { url in
            try makeVersionOne(url)
            _ = try await PostgresStore.migrate(uri: url, logger: quiet)
            let purgeAt = try PostgresTestDatabase.psql(url, "SELECT purge_at FROM payloads")
            #expect(Int64(purgeAt) == (noon + .seconds(60)).milliseconds)
            try await withRunningStore(url) { test in
                let before = try await test.store.purge(limit: 10, now: noon + .seconds(59))
                #expect(before == PurgeReport())
                let after = try await test.store.purge(limit: 10, now: noon + .seconds(60))
                #expect(after == PurgeReport(payloads: 1))
            }
        }
    }

    @Test func remindersThatThePreviousVersionClaimedCountAsSent() async throws {
        try await PostgresTestDatabase.with { url in
            let rows = [
                """
                INSERT INTO notifications (id, sender, recipient, presentation, created_at, expires_at, remind)
                VALUES ('\(id)', 'tests', 'alice', 0, 1, \(due.milliseconds), '{30000,30000,30000}')
                """,
                """
                INSERT INTO follow_ups (notification_id, kind, due_at, step) VALUES
                    ('\(id)', 1, 9223372036854775807, 0), ('\(id)', 2, \(noon.milliseconds), 2)
                """,
            ]
            _ = try PostgresTestDatabase.psql(url, (schema(upTo: 9) + rows).joined(separator: ";\n"))
            try await withRunningStore(url) { test in
                let record = try await test.store.record(id, sender: "tests")
                #expect(record?.reminders == ReminderProgress(sent: 2, next: noon))
                // As that version adds one.
                try await test.execute("INSERT INTO follow_ups (notification_id, kind, due_at) VALUES ('\(id)', 3, 1)")
                let sent = "SELECT string_agg(sent::text, ' ' ORDER BY kind) FROM follow_ups"
                #expect(try PostgresTestDatabase.psql(url, sent) == "0 2 0")
            }
        }
    }

    @Test func ofDevicesWhoseIDsDifferInCaseOnlyTheNewestStaysAsInTheHub() async throws {
        try await PostgresTestDatabase.with { url in
            var statements = schema(upTo: 3)
            for (id, owner, time) in [
                ("Dev-1", "alice", 5), ("dev-1", "bob", 6), ("DEV-1", "carol", 4), ("a", "alice", 1),
                ("x", "alice", 7), ("X", "bob", 7),
            ] {
                statements.append(
                    """
                    INSERT INTO installations (id, owner, platform, handle, document, updated_at)
                    VALUES ('\(id)', '\(owner)', 'apple', 'h', '{}', \(time))
                    """)
                statements.append(
                    """
                    INSERT INTO registrations (id, owner, platform, handle, updated_at)
                    VALUES ('\(id)', '\(owner)', 'apns', 'h', \(time))
                    """)
            }
            _ = try PostgresTestDatabase.psql(url, statements.joined(separator: ";\n"))
            try await withRunningStore(url) { test in
                let installations = try await test.store.installations(after: nil, limit: 9)
                #expect(installations.map(\.id) == ["a", "dev-1", "x"])
                #expect(installations.map(\.owner.text) == ["alice", "bob", "alice"])
                let registrations = try await test.store.registrations(after: nil, limit: 9)
                #expect(registrations.map(\.id) == ["a", "dev-1", "x"])
                let new = try await test.store.leaseNewHandle(now: due, until: due)
                #expect(new == nil)
            }
        }
    }
}
