import Foundation
import GRDB
import Logging
import SecurePushCore
import Testing

@testable import Storage

@Suite("SQLite migrations")
struct SQLiteMigrationTests {
    private let logger = Logger(label: "SQLiteMigrationTests") { _ in SwiftLogNoOpLogHandler() }

    private let later = [
        "003-registrations", "004-senders", "005-retention", "006-devices", "007-redelivery", "008-sender-recipient",
        "009-devices", "010-follow-ups", "011-silent-pushes", "012-reading", "013-device-life",
        "014-sent-reminders", "015-encryption-keys", "016-outcomes", "017-device-places",
        "018-replaced-tokens",
    ]

    private var newest: Int { 2 + later.count }

    private func configuration(
        _ folder: String, _ policy: MigrationPolicy = .automatic
    ) throws -> StorageConfiguration {
        try StorageConfiguration(url: "sqlite:\(folder)/x.sqlite", migrations: policy)
    }

    @Test("Migrating reports its steps once")
    func report() async throws {
        try await withTemporaryFolder { folder in
            let first = try await migrateStore(configuration(folder), logger: logger)
            #expect(first.applied == ["001-notifications", "002-outbox"] + later)
            #expect(first.version == newest)
            let second = try await migrateStore(configuration(folder), logger: logger)
            #expect(second == MigrationReport(applied: [], version: newest))
        }
    }

    @Test("Checking refuses a file that is not there, and makes none")
    func checkMissing() async throws {
        try await withTemporaryFolder { folder in
            let configuration = try configuration(folder, .check)
            let error = await #expect(throws: StorageError.self) { try await openStore(configuration, logger: logger) }
            #expect(error?.code == .migrationNeeded)
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/x.sqlite"))
        }
    }

    @Test("Checking refuses an older schema and takes the current one")
    func check() async throws {
        try await withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: "\(folder)/x.sqlite")
            try SQLiteSchema.migrator.migrate(queue, upTo: "001-notifications")
            let check = try configuration(folder, .check)
            let error = await #expect(throws: StorageError.self) { try await openStore(check, logger: logger) }
            #expect(error?.code == .migrationNeeded)
            let report = try await migrateStore(configuration(folder), logger: logger)
            #expect(report.applied == ["002-outbox"] + later)
            #expect(try await openStore(check, logger: logger).kind == .sqlite)
        }
    }

    @Test("What an older version stored is purged in its time, and its registrations have no tags")
    func backfill() async throws {
        try await withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: "\(folder)/x.sqlite")
            try SQLiteSchema.migrator.migrate(queue, upTo: "003-registrations")
            let sent = SealedNotification.sample()
            try await queue.write { db in
                let id = Data(sent.id.bytes)
                let expiresAt = sent.notification.expiresAt.milliseconds
                try db.execute(
                    sql: """
                        INSERT INTO notifications (id, sender, recipient, created_at, expires_at, presentation)
                        VALUES (?, 'tests', 'alice', 1, ?, 0)
                        """, arguments: [id, expiresAt])
                try db.execute(sql: "INSERT INTO payloads VALUES (?, 'k1', x'010203')", arguments: [id])
                try db.execute(sql: "INSERT INTO registrations VALUES ('r1', 'alice', 'apns', 'h', 5)")
            }
            try queue.close()
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { (test: TestStore) async throws in
                let store = test.store
                let expiry = sent.notification.expiresAt
                #expect(try await store.registration("r1", owner: .alice)?.tags == [])
                #expect(try await store.purge(limit: 9, now: expiry - .milliseconds(1)) == PurgeReport())
                #expect(try await store.find(sent.id, recipient: .alice)?.payload?.bytes == [1, 2, 3])
                #expect(try await store.purge(limit: 9, now: expiry) == PurgeReport(payloads: 1))
                let end = expiry + RetentionPolicy.tombstone
                #expect(try await store.purge(limit: 9, now: end) == PurgeReport(notifications: 1))
            }
        }
    }

    @Test("Of devices whose IDs differ in case only, the newest stays, as in the hub")
    func devices() async throws {
        try await withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: "\(folder)/x.sqlite")
            try SQLiteSchema.migrator.migrate(queue, upTo: "007-redelivery")
            try await queue.write { db in
                for (id, owner, time) in [
                    ("Dev-1", "alice", 5), ("dev-1", "bob", 6), ("DEV-1", "carol", 4), ("a", "alice", 1),
                    ("x", "alice", 7), ("X", "bob", 7),
                ] {
                    try db.execute(
                        sql: "INSERT INTO installations VALUES (?, ?, 'apple', 'h', ?, x'7B7D')",
                        arguments: [id, owner, time])
                    try db.execute(
                        sql: "INSERT INTO registrations VALUES (?, ?, 'apns', 'h', ?, '[]')",
                        arguments: [id, owner, time])
                }
            }
            try queue.close()
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { (test: TestStore) async throws in
                let installations = try await test.store.installations(after: nil, limit: 9)
                #expect(installations.map(\.id) == ["a", "dev-1", "x"])
                #expect(installations.map(\.owner.text) == ["alice", "bob", "alice"])
                let registrations = try await test.store.registrations(after: nil, limit: 9)
                #expect(registrations.map(\.id) == ["a", "dev-1", "x"])
                // Their handles are known: the hub is not asked for each of them after an upgrade.
                #expect(try await test.store.leaseNewHandle(now: due, until: due) == nil)
            }
        }
    }

    @Test("Reminders that the previous version claimed count as sent")
    func sentReminders() async throws {
        try await withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: "\(folder)/x.sqlite")
            try SQLiteSchema.migrator.migrate(queue, upTo: "013-device-life")
            let id = NotificationID(at: noon)
            try await queue.write { db in
                let arguments: StatementArguments = [Data(id.bytes), due.milliseconds]
                try db.execute(
                    sql: """
                        INSERT INTO notifications (id, sender, recipient, created_at, expires_at, presentation, remind)
                        VALUES (?, 'tests', 'alice', 1, ?, 0, '30000,30000,30000')
                        """, arguments: arguments)
                for (kind, step) in [(1, 0), (2, 2)] {
                    try db.execute(
                        sql: "INSERT INTO follow_ups (notification_id, kind, due_at, step) VALUES (?, ?, ?, ?)",
                        arguments: [Data(id.bytes), kind, noon.milliseconds, step])
                }
            }
            try queue.close()
            try await withRunningStore("sqlite:\(folder)/x.sqlite") { (test: TestStore) async throws in
                let record = try await test.store.record(id, sender: "tests")
                #expect(record?.reminders == ReminderProgress(sent: 2, next: noon))
            }
        }
    }

    @Test("A newer schema is refused", arguments: [MigrationPolicy.automatic, .check])
    func newer(_ policy: MigrationPolicy) async throws {
        try await withTemporaryFolder { folder in
            _ = try await migrateStore(configuration(folder), logger: logger)
            let queue = try DatabaseQueue(path: "\(folder)/x.sqlite")
            try await queue.write { db in try db.execute(sql: "INSERT INTO grdb_migrations VALUES ('999-later')") }
            let configuration = try configuration(folder, policy)
            let error = await #expect(throws: StorageError.self) { try await openStore(configuration, logger: logger) }
            #expect(error?.code == .migrationNeeded)
        }
    }

    /// The fault showed in about one round of eight, so there are several.
    @Test("Several that start at once on a new file all succeed", arguments: 1...10)
    func race(_ round: Int) async throws {
        try await withTemporaryFolder { folder in
            let configuration = try configuration(folder)
            let steps = try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { try await migrateStore(configuration, logger: logger) }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1.version) }
            }
            #expect(steps == [newest])
        }
    }
}
