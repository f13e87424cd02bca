import Domain
import Logging
import ServiceLifecycle
import StackKit
import Testing

@testable import Storage

/// What an operator, a provider or another program has set for a server, a database or a role. The databases of the
/// conformance suite have odd defaults too, see ``PostgresTestDatabase``.
@Suite(.stores, .timeLimit(.minutes(15))) struct PostgresDefaultsTests {
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    struct Default: Sendable, CustomTestStringConvertible {
        let name: String
        let value: String
        var testDescription: String { "\(name) = \(value)" }
    }

    static let defaults = [
        ("default_transaction_isolation", "serializable"), ("default_transaction_isolation", "repeatable read"),
        ("statement_timeout", "5ms"), ("lock_timeout", "1ms"), ("idle_in_transaction_session_timeout", "1ms"),
        ("search_path", ""), ("search_path", "nowhere"), ("search_path", "pg_catalog"), ("row_security", "off"),
        ("standard_conforming_strings", "off"), ("client_encoding", "LATIN1"), ("bytea_output", "escape"),
        ("enable_nestloop", "off"), ("default_transaction_deferrable", "on"),
    ].map { Default(name: $0, value: $1) }

    @Test(arguments: defaults)
    func `Three services that start at once on an empty database all start, and work`(_ odd: Default) async throws {
        try await PostgresTestDatabase.with { url in
            let name = url.split(separator: "/").last ?? ""
            _ = try await PostgresTestDatabase.psql(url, "ALTER DATABASE \(name) SET \(odd.name) TO '\(odd.value)'")
            let sent = (0..<3).map { _ in SealedNotification.sample() }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sample in sent {
                    group.addTask {
                        try await withRunningStore(url) { test in
                            try await test.store.append([sample])
                            try await test.store.markRead(sample.id, at: noon)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await withRunningStore(url) { test in
                let found = try await test.store.find(sent.map(\.id), recipient: .alice)
                #expect(found.values.filter { $0.readAt == noon }.count == 3)
            }
        }
    }

    @Test func `Tables in a schema that only a role's default names are not made a second time`() async throws {
        try await PostgresTestDatabase.with { url in
            _ = try await PostgresTestDatabase.psql(url, "CREATE SCHEMA mine")
            let mine = "\(url)?options=-c%20search_path%3Dmine"
            #expect(try await PostgresStore.migrate(uri: mine, logger: quiet).applied.count == 1)
            let error = await #expect(throws: StorageError.self) {
                try await PostgresStore.migrate(uri: url, logger: quiet)
            }
            #expect(error?.code == .invalid && error?.message.contains("mine") == true)
            #expect(try await PostgresStore.migrate(uri: mine, logger: quiet).applied == [])
        }
    }

    @Test func `A schema that the URL names gets tables of its own, whatever others the database has`() async throws {
        try await PostgresTestDatabase.with { url in
            for name in ["first", "second"] {
                _ = try await PostgresTestDatabase.psql(url, "CREATE SCHEMA \(name)")
                let own = "\(url)?options=--search-path%3D\(name)"
                #expect(try await PostgresStore.migrate(uri: own, logger: quiet).applied.count == 1)
                let table = try await PostgresTestDatabase.psql(url, "SELECT to_regclass('\(name).outbox') IS NOT NULL")
                #expect(table == "t")
            }
        }
    }

    @Test(arguments: ["LATIN1", "SQL_ASCII"])
    func `A database that cannot hold every text is a mistake in the settings`(_ encoding: String) async throws {
        try await PostgresTestDatabase.with { url in
            let name = "\(url.split(separator: "/").last ?? "")_\(encoding.lowercased())"
            let options = "ENCODING '\(encoding)' TEMPLATE template0 LOCALE 'C'"
            _ = try await PostgresTestDatabase.psql(url, "CREATE DATABASE \(name) \(options)")
            let other = url.split(separator: "/").dropLast().joined(separator: "/") + "/\(name)"
            let uri = other.replacing("postgres:/", with: "postgres://")
            let store = try PostgresStore(uri: uri, migrations: .automatic, logger: quiet)
            let error = await #expect(throws: StorageError.self) { try await store.run() }
            // Services exit with 78 then.
            #expect(error?.code == .invalid && error?.message.contains(encoding) == true)
            _ = try await PostgresTestDatabase.psql(url, "DROP DATABASE \(name) WITH (FORCE)")
        }
    }

    @Test func `A service that starts on a read-only database waits until it can be written to`() async throws {
        try await PostgresTestDatabase.with { url in
            let name = url.split(separator: "/").last ?? ""
            _ = try await PostgresTestDatabase.psql(
                url, "ALTER DATABASE \(name) SET default_transaction_read_only TO on")
            let opened = try await openStore(StorageConfiguration(url: url), logger: quiet)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await opened.service.run() }
                let isTold = try await eventually {
                    await opened.readiness()?.contains("The database is read-only.") == true
                }
                #expect(isTold)
                _ = try await PostgresTestDatabase.psql(
                    url,
                    "BEGIN; SET TRANSACTION READ WRITE; "
                        + "ALTER DATABASE \(name) RESET default_transaction_read_only; COMMIT")
                #expect(try await eventually { await opened.readiness() == nil })
                group.cancelAll()
            }
        }
    }

    @Test(arguments: [true, false])
    func `A database that is read-only for a while says so, and is used again`(endingSessions: Bool) async throws {
        let test = try await StoreKind.postgres.openTest()
        let name = test.url.split(separator: "/").last ?? ""
        let end =
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '\(name)' "
            + "AND pid <> pg_backend_pid()"
        try await test.execute("ALTER DATABASE \(name) SET default_transaction_read_only TO on")
        try await test.execute(end)
        let isTold = try await eventually {
            await test.readiness()?.contains("The database is read-only.") == true
        }
        #expect(isTold)
        let error = await #expect(throws: StorageError.self) { try await test.store.append([.sample()]) }
        #expect(error?.isRetriable == true)
        // psql has a read-only session too.
        try await test.execute(
            "BEGIN; SET TRANSACTION READ WRITE; ALTER DATABASE \(name) RESET default_transaction_read_only; COMMIT")
        if endingSessions { try? await test.execute(end) }
        #expect(try await eventually { await test.readiness() == nil })
        try await test.store.append([.sample()])
    }
}
