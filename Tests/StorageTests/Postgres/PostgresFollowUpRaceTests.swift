import Domain
import Foundation
import Foundations
import StackKit
import Testing

@testable import Storage

/// Claims of follow-ups that wait for another process's transaction.
@Suite(.stores) struct PostgresFollowUpRaceTests {
    /// Two platforms that have accepted the push.
    private static let deliveries =
        #"[{"p":"apple","s":"sent","n":1,"t":1790000000000},{"p":"windows","s":"sent","n":1,"t":1790000000000}]"#

    /// Ends when another session waits for a lock, and so with the transaction that it is in.
    private static let untilSomebodyWaits = """
        DO $$ BEGIN
            FOR round IN 1..3000 LOOP
                PERFORM pg_stat_clear_snapshot();
                IF EXISTS (SELECT FROM pg_stat_activity
                           WHERE datname = current_database() AND wait_event_type = 'Lock') THEN
                    RETURN;
                END IF;
                PERFORM pg_sleep(0.01);
            END LOOP;
            RAISE EXCEPTION 'nobody waits for a lock';
        END $$
        """

    @Test func `A withdrawal that is claimed while a push is recorded goes to that platform too`() async throws {
        let test = try await StoreKind.postgres.openTest()
        let (store, url) = (test.store, test.url)
        let sent = SealedNotification.sample()
        let withdrawal = FollowUp(id: sent.id, kind: .withdrawal)
        try await store.append([sent])
        _ = try await store.claim([sent.id], now: noon)
        try await store.record([
            DispatchOutcome(id: sent.id, attempt: 1, deliveries: [.sample(.apple, .sent)])
        ])
        _ = try await store.revoke(sent.id, sender: "tests", now: noon + .seconds(1))
        // The changes of a record, in a transaction that is still open. The lock tells that they are made.
        let recording = """
            UPDATE notifications SET deliveries = '\(Self.deliveries)' WHERE id = '\(sent.id)';
            UPDATE follow_ups SET attempt = attempt + 1 WHERE notification_id = '\(sent.id)';
            SELECT pg_advisory_xact_lock(7);
            \(Self.untilSomebodyWaits)
            """
        async let recorded = PostgresTestDatabase.psql(url, recording)
        let isMade = try await eventually {
            try await PostgresTestDatabase.psql(
                url,
                """
                SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database
                WHERE locktype = 'advisory' AND objid = 7 AND datname = current_database()
                """) == "1"
        }
        #expect(isMade)
        let claims = try await store.claimFollowUps([withdrawal], now: noon + .seconds(2))
        _ = try await recorded
        #expect(claims.plans[withdrawal]?.platforms == [.apple, .windows])
    }
}
