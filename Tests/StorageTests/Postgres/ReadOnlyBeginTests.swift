import Domain
import Foundations
import StackKit
import Testing

@testable import Storage

/// A dispatcher must not push what it cannot record.
@Suite(.stores) struct ReadOnlyBeginTests {
    @Test func `A read-only database begins no first attempt, and says that it is a matter of time`() async throws {
        let test = try await StoreKind.postgres.openTest()
        // Its entry is due late, so that a slow machine does not matter.
        var sent = SealedNotification.sample(createdAt: .now + .seconds(60), expiresAt: .now + .seconds(600))
        sent.claimsFirstAttempt = true
        try await test.store.append([sent])
        #expect(try await test.store.begin([sent.id], now: .now)[sent.id] != nil)
        _ = try await PostgresTestDatabase.psql(
            test.url,
            """
            DO $$ BEGIN EXECUTE format(
                'ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$
            """)
        _ = try await PostgresTestDatabase.psql(
            test.url,
            """
            SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """)
        // From the first refusal on, none is begun.
        var refusals = 0
        _ = try await eventually(within: .seconds(30), every: .milliseconds(50)) {
            do {
                _ = try await test.store.begin([sent.id], now: .now)
                #expect(refusals == 0)
            } catch let error as StorageError {
                #expect(error.isRetriable)
                refusals += 1
            }
            return refusals == 40
        }
        #expect(refusals == 40)
    }
}
