import Domain
import Foundation
import Foundations
import Logging
import Postgres
import ServiceLifecycle
import TestSupport
import Testing

@testable import Storage

@Suite(.stores) struct PostgresStoreTests {
    private let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func sealed(_ count: Int) -> [SealedNotification] {
        (0..<count).map { index in
            let name = UserName("user\(index)")!
            let notification = Notification(sender: "key", recipient: name, expiresAt: .now + .seconds(600))
            return SealedNotification(
                notification: notification,
                payload: SealedPayload(keyID: "k", bytes: [UInt8](repeating: 7, count: 100)))
        }
    }

    @Test func `Concurrent appends share transactions`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let count = 400
        try await withThrowingTaskGroup(of: Void.self) { group in
            for item in sealed(count) { group.addTask { try await test.store.append([item]) } }
            try await group.waitForAll()
        }
        let rows = try await PostgresTestDatabase.psql(test.url, "SELECT count(*) FROM notifications")
        let transactions = try await PostgresTestDatabase.psql(
            test.url, "SELECT count(DISTINCT xmin::text) FROM notifications")
        #expect(Int(rows) == count)
        #expect(try #require(Int(transactions)) < count / 4)
    }

    @Test func `Two processes migrate once`() async throws {
        try await PostgresTestDatabase.with { url in
            let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
                for _ in 0..<4 { group.addTask { try await PostgresStore.migrate(uri: url, logger: quiet) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(reports.filter { !$0.applied.isEmpty }.count == 1)
            #expect(reports.allSatisfy { $0.version == SchemaVersion.current })
        }
    }

    @Test func `Checking refuses an empty database`() async throws {
        try await PostgresTestDatabase.with { url in
            let checking = try PostgresStore(uri: url, migrations: .check, logger: quiet)
            await #expect { try await checking.run() } throws: { ($0 as? StorageError)?.code == .migrationNeeded }
        }
    }

    @Test func `A full disk is told in the same words as that of SQLite, without the server's file`() {
        let words = #"could not extend file "base/16384/16400": No space left on device"#
        let error = StorageError(PostgresError(.server, sqlState: "53100", words))
        #expect(error.code == .unavailable)
        #expect(error.message == "The disk of the database is full. Free some space. (SQLSTATE 53100)")
    }

    @Test func `Readiness says why there is no connection`() async throws {
        let uri = try TestEnvironment.databaseURL.replacing(/\/[^\/?]*(?=\?|$)/, with: "/nodb")
        let opened = try await openStore(StorageConfiguration(url: uri), logger: quiet)
        let running = Task { try await opened.service.run() }
        let reason = "There is no connection to the database. The server has no database of this name."
        try await expectEventually { await opened.readiness()?.hasSuffix(reason) == true }
        running.cancel()
        _ = await running.result
    }

    @Test(.timeLimit(.minutes(15))) func `Calls do not wait for a server that does not answer`() async throws {
        // Nobody takes the connection from the listener's queue, and connecting may last an hour: a call that waited
        // for it would run into the limit.
        let listener = try SilentListener()
        defer { listener.close() }
        let uri = "postgres://a@127.0.0.1:\(listener.port)/a?connect_timeout=3600&sslmode=disable"
        let store = try PostgresStore(uri: uri, migrations: .automatic, logger: quiet)
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await store.run() }
            let isUnavailable = { (error: any Error) in (error as? StorageError)?.code == .unavailable }
            await #expect { try await store.append(sealed(1)) } throws: { isUnavailable($0) }
            await #expect { try await store.claim([NotificationID()], now: .now) } throws: { isUnavailable($0) }
            await #expect { try await store.ping(timeout: .seconds(5)) } throws: { isUnavailable($0) }
            group.cancelAll()
        }
    }
}
