import Postgres
import SecurePushCore

extension PostgresStore: Outbox {
    static let backlogScan = 100_000
    static let dueScan = 10_000

    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        try await lease(.lease, limit: limit, due: now, now: now, until: until).entries
    }

    func leasePublished(
        limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) async throws -> PublishedLease {
        try await lease(.leasePublished, limit: limit, due: due, now: now, until: until)
    }

    private func lease(
        _ statement: PostgresStatement, limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) async throws -> PublishedLease {
        if limit <= 0 { return PublishedLease() }
        var parameters = PostgresParameters()
        parameters.append(due.milliseconds)
        parameters.append(until.milliseconds)
        parameters.append(Int64(limit))
        parameters.append(now.milliseconds)
        let result = try await query(statement, parameters)
        return try decoding {
            let rows = try result.map { row in
                let id = NotificationID(try row.decode(0, as: PostgresUUID.self))
                let entry = OutboxEntry(id: id, traceparent: try row.decodeIfPresent(1))
                return (
                    due: try row.decode(2, as: Int64.self), entry: entry, isLeased: try row.decode(3, as: Bool.self)
                )
            }
            // What an UPDATE returns has no order.
            let leased = rows.filter(\.isLeased).sorted { ($0.due, $0.entry.id) < ($1.due, $1.entry.id) }
            return PublishedLease(entries: leased.map(\.entry), examined: rows.count)
        }
    }

    func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        if ids.isEmpty { return }
        // In one order, so that two processes cannot wait for each other's row locks.
        var parameters = PostgresParameters(capacity: ids.count * 20 + 64)
        parameters.append(ids.sorted()) { PostgresUUID($0) }
        parameters.append(until.milliseconds)
        _ = try await query(.confirm, parameters)
    }

    /// Counts at most ``backlogScan``; the oldest is sought among the ``dueScan`` that
    /// have been due for longest.
    func backlog(now: Timestamp) async throws -> OutboxBacklog {
        var parameters = PostgresParameters()
        parameters.append(now.milliseconds)
        let result = try await query(.backlog, parameters)
        return try decoding {
            guard let row = result.first else { return OutboxBacklog(count: 0, oldest: nil) }
            let oldest = try row.decodeIfPresent(1, as: PostgresUUID.self).map { NotificationID($0).timestamp }
            return OutboxBacklog(count: Int(try row.decode(0, as: Int64.self)), oldest: oldest)
        }
    }
}

extension PostgresStatement {
    /// In `due_at` of an entry that is published: there the unpublished ones' sweep, also that of a process of the
    /// version before, never comes to it.
    static let never = Int64.max

    private static let attemptLimit = OutboxPolicy.attemptLimit.milliseconds

    fileprivate static let lease = PostgresStatement(
        lease(
            by: "due_at",
            """
            due_at = CASE WHEN seen.claim_end IS NULL THEN $2 ELSE \(never) END, republish_at = seen.claim_end
            """))

    fileprivate static let leasePublished = PostgresStatement(
        lease(by: "republish_at", "republish_at = coalesce(seen.claim_end, $2)"))

    /// Rows that another process is leasing at this moment are skipped, not waited for. What a dispatcher is at work on
    /// is seen in its notification; that row is not locked, for a claim that comes after the look finds an ID that was
    /// not with the broker when the look began.
    private static func lease(by due: String, _ change: String) -> String {
        """
        WITH due AS (
            SELECT notification_id, \(due) AS due_at FROM outbox WHERE \(due) <= $1
            ORDER BY \(due), notification_id LIMIT $3 FOR UPDATE SKIP LOCKED
        ), seen AS (
            SELECT notification_id, due_at, n.id IS NULL OR n.status > 1 AS is_final,
                CASE WHEN n.claimed_at > $4 - \(attemptLimit) THEN least(n.claimed_at, $4) + \(attemptLimit) END
                    AS claim_end
            FROM due LEFT JOIN notifications AS n ON n.id = due.notification_id
        ), gone AS (
            DELETE FROM outbox USING seen WHERE outbox.notification_id = seen.notification_id AND seen.is_final
        ), kept AS (
            UPDATE outbox SET \(change)
            FROM seen WHERE outbox.notification_id = seen.notification_id AND NOT seen.is_final
            RETURNING outbox.notification_id, outbox.traceparent, seen.due_at, seen.claim_end IS NULL
        )
        SELECT * FROM kept UNION ALL SELECT notification_id, NULL, due_at, false FROM seen WHERE is_final
        """
    }

    /// Where the dispatcher was faster, as it mostly is, there is no row any more and nothing is written.
    fileprivate static let confirm = PostgresStatement(
        """
        UPDATE outbox SET due_at = \(never), republish_at = $2 FROM unnest($1::uuid[]) AS sent (id)
        WHERE outbox.notification_id = sent.id AND outbox.republish_at IS NULL
        """)

    /// Both looks are bounded, for this is asked every few seconds and the more waits the less time there is. IDs sort
    /// by time, so the smallest is the oldest: of those that have been due for longest.
    fileprivate static let backlog = PostgresStatement(
        """
        SELECT (
                SELECT count(*)
                FROM (SELECT FROM outbox WHERE due_at < \(never) LIMIT \(PostgresStore.backlogScan)) AS waiting
            ), (
                SELECT notification_id
                FROM (
                    SELECT notification_id FROM outbox WHERE due_at <= $1 ORDER BY due_at LIMIT \(PostgresStore.dueScan)
                ) AS due
                ORDER BY notification_id LIMIT 1
            )
        """)

    /// Enters the rows of a CTE `open` (id, republish_at, traceparent) into the outbox as published.
    static let publishedOfOpen = """
        INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
        SELECT id, \(never), republish_at, traceparent FROM open
        ON CONFLICT (notification_id) DO UPDATE SET due_at = excluded.due_at, republish_at = excluded.republish_at
        """
}
