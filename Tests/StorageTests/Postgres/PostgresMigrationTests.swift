import Domain
import Logging
import Testing

@testable import Storage

struct PostgresMigrationTests {
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `The schema is created once`() async throws {
        try await PostgresTestDatabase.with { url in
            let first = try await PostgresStore.migrate(uri: url, logger: quiet)
            #expect(first == MigrationReport(applied: ["0018_baseline"], version: 18))
            let second = try await PostgresStore.migrate(uri: url, logger: quiet)
            #expect(second == MigrationReport(applied: [], version: 18))
        }
    }

    /// The services of a stack start one after the other, in the time in which the first one creates the schema.
    @Test func `Of processes that start one after the other, none is refused`() async throws {
        for _ in 0..<4 {
            try await PostgresTestDatabase.with { url in
                let created = try await withThrowingTaskGroup(of: Int.self) { group in
                    for start in 0..<24 {
                        group.addTask {
                            try await Task.sleep(for: .milliseconds(4 * start))
                            return try await PostgresStore.migrate(uri: url, logger: quiet).applied.count
                        }
                    }
                    return try await group.reduce(0, +)
                }
                #expect(created == 1)
            }
        }
    }

    @Test(arguments: [(16, "export"), (99, "Run the newer version")], [MigrationPolicy.automatic, .check])
    func `The schema of another version is refused with what to do`(
        _ found: (version: Int, advice: String), _ policy: MigrationPolicy
    ) async throws {
        try await PostgresTestDatabase.with { url in
            _ = try await PostgresTestDatabase.psql(
                url,
                """
                CREATE TABLE schema_migrations (version integer PRIMARY KEY, name text NOT NULL);
                INSERT INTO schema_migrations VALUES (1, 'first'), (\(found.version), 'last')
                """)
            let store = try PostgresStore(uri: url, migrations: policy, logger: quiet)
            let error = await #expect(throws: StorageError.self) { try await store.run() }
            #expect(error?.code == .invalid)
            let message = error?.message ?? ""
            #expect(message.contains("schema \(found.version),") && message.contains(found.advice))
        }
    }
}
