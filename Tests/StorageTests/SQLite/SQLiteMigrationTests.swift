import Foundation
import GRDB
import Logging
import SecurePushCore
import Testing

@testable import Storage

@Suite("SQLite migrations")
struct SQLiteMigrationTests {
    private let logger = Logger(label: "SQLiteMigrationTests") { _ in SwiftLogNoOpLogHandler() }

    private func configuration(
        _ folder: String, _ policy: MigrationPolicy = .automatic
    ) throws -> StorageConfiguration {
        try StorageConfiguration(url: "sqlite:\(folder)/x.sqlite", migrations: policy)
    }

    @Test("Migrating reports its steps once")
    func report() async throws {
        try await withTemporaryFolder { folder in
            let first = try await migrateStore(configuration(folder), logger: logger)
            #expect(first.applied == ["001-notifications", "002-outbox", "003-registrations"])
            #expect(first.version == 3)
            let second = try await migrateStore(configuration(folder), logger: logger)
            #expect(second == MigrationReport(applied: [], version: 3))
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
            #expect(report.applied == ["002-outbox", "003-registrations"])
            #expect(try await openStore(check, logger: logger).kind == .sqlite)
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

    @Test("Several that start at once on a new file all succeed")
    func race() async throws {
        try await withTemporaryFolder { folder in
            let configuration = try configuration(folder)
            let steps = try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { try await migrateStore(configuration, logger: logger) }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1.version) }
            }
            #expect(steps == [3])
        }
    }
}
