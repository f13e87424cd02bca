import Domain
import Foundation
import GRDB
import Logging
import TestSupport
import Testing

@testable import Storage

struct SQLiteMigrationTests {
    private let logger = Logger(label: "SQLiteMigrationTests") { _ in SwiftLogNoOpLogHandler() }

    private func configuration(
        _ folder: String, _ policy: MigrationPolicy = .automatic
    ) throws -> StorageConfiguration {
        try StorageConfiguration(url: "sqlite:\(folder)/x.sqlite", migrations: policy)
    }

    @Test func `Migrating creates the schema once`() async throws {
        try await withTemporaryFolder { folder in
            let first = try await migrateStore(configuration(folder), logger: logger)
            #expect(first == MigrationReport(applied: ["0018_baseline"], version: 18))
            let second = try await migrateStore(configuration(folder), logger: logger)
            #expect(second == MigrationReport(applied: [], version: 18))
        }
    }

    @Test func `Checking refuses a file that is not there, and makes none`() async throws {
        try await withTemporaryFolder { folder in
            let configuration = try configuration(folder, .check)
            let error = await #expect(throws: StorageError.self) { try await openStore(configuration, logger: logger) }
            #expect(error?.code == .migrationNeeded)
            #expect(!FileManager.default.fileExists(atPath: "\(folder)/x.sqlite"))
        }
    }

    @Test func `Checking refuses an empty file and takes one with the schema`() async throws {
        try await withTemporaryFolder { folder in
            _ = FileManager.default.createFile(atPath: "\(folder)/x.sqlite", contents: nil)
            let check = try configuration(folder, .check)
            let error = await #expect(throws: StorageError.self) { try await openStore(check, logger: logger) }
            #expect(error?.code == .migrationNeeded)
            _ = try await migrateStore(configuration(folder), logger: logger)
            #expect(try await openStore(check, logger: logger).kind == .sqlite)
        }
    }

    @Test(
        arguments: [
            ("CREATE TABLE grdb_migrations (x); INSERT INTO grdb_migrations VALUES (1), (2)", "schema 2,", "export"),
            ("PRAGMA user_version = 99", "schema 99,", "Run the newer version"),
        ], [MigrationPolicy.automatic, .check])
    func `Another version's schema is refused with what to do`(
        _ file: (change: String, version: String, advice: String), _ policy: MigrationPolicy
    ) async throws {
        try await withTemporaryFolder { folder in
            let queue = try DatabaseQueue(path: "\(folder)/x.sqlite")
            try await queue.writeWithoutTransaction { db in try db.execute(sql: file.change) }
            try queue.close()
            let configuration = try configuration(folder, policy)
            let error = await #expect(throws: StorageError.self) { try await openStore(configuration, logger: logger) }
            #expect(error?.code == .invalid)
            #expect(error?.message.contains(file.version) == true && error?.message.contains(file.advice) == true)
        }
    }

    /// The fault showed in about one round of eight, so there are several.
    @Test(arguments: 1...10)
    func `Several that start at once on a new file all succeed`(_ round: Int) async throws {
        try await withTemporaryFolder { folder in
            let configuration = try configuration(folder)
            let versions = try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask { try await migrateStore(configuration, logger: logger) }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1.version) }
            }
            #expect(versions == [SchemaVersion.current])
        }
    }
}
