import Domain
import StackKit
import TestSupport
import Testing

@testable import Storage

/// An append whose connection breaks before the result.
@Suite(.stores, .timeLimit(.minutes(15))) struct PostgresRepetitionTests {
    private static let sleepers = "pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"

    /// Makes each insert of a notification wait until ``Self/release(_:)``.
    private func hold(_ test: TestStore) async throws {
        try await test.execute(
            """
            CREATE TABLE held (seconds integer);
            INSERT INTO held VALUES (60);
            CREATE FUNCTION wait_while_held() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN PERFORM pg_sleep(seconds) FROM held; RETURN NEW; END $$;
            CREATE TRIGGER wait_while_held BEFORE INSERT ON notifications
                FOR EACH ROW EXECUTE FUNCTION wait_while_held()
            """)
    }

    private func release(_ test: TestStore) async throws { try await test.execute("DELETE FROM held") }

    /// Ends the session that inserts, once there is one that has not been ended before.
    private func endSession(_ test: TestStore, not earlier: String? = nil) async throws -> String {
        var process = ""
        let isAsleep = try await eventually {
            process = try await PostgresTestDatabase.psql(test.url, "SELECT pid FROM \(Self.sleepers)")
            return !process.isEmpty && process != earlier
        }
        try #require(isAsleep)
        _ = try await PostgresTestDatabase.psql(test.url, "SELECT pg_terminate_backend(\(process))")
        return process
    }

    @Test func `An append is repeated once`() async throws {
        let test = try await StoreKind.postgres.openTest()
        try await hold(test)
        let sent = SealedNotification.sample()
        let call = Task { try await test.store.append([sent]) }
        try await expectEventually {
            try await PostgresTestDatabase.psql(test.url, "SELECT count(*) FROM \(Self.sleepers)") == "1"
        }
        // The session that waits read the table before.
        try await release(test)
        _ = try await endSession(test)
        try await call.value
        #expect(try await PostgresTestDatabase.psql(test.url, "SELECT count(*) FROM outbox") == "1")
    }

    @Test func `An append that fails again has an unknown outcome`() async throws {
        let test = try await StoreKind.postgres.openTest()
        try await hold(test)
        let call = Task { try await test.store.append([.sample()]) }
        let first = try await endSession(test)
        _ = try await endSession(test, not: first)
        let error = await #expect(throws: StorageError.self) { try await call.value }
        #expect(error?.code == .connectionLost)
        try await release(test)
        try await test.store.append([.sample()])
    }

    @Test func `A reading is not repeated`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let sent = SealedNotification.sample()
        try await test.store.append([sent])
        // Every row is checked by a function that waits.
        try await test.execute(
            """
            CREATE FUNCTION wait_long() RETURNS boolean LANGUAGE plpgsql VOLATILE AS
                $$ BEGIN PERFORM pg_sleep(60); RETURN true; END $$;
            ALTER TABLE notifications RENAME TO stored_notifications;
            CREATE VIEW notifications AS SELECT * FROM stored_notifications WHERE wait_long()
            """)
        let call = Task { try await test.store.find(sent.id, recipient: .alice) }
        _ = try await endSession(test)
        let error = await #expect(throws: StorageError.self) { try await call.value }
        #expect(error?.code == .connectionLost)
    }
}
