import Domain
import Foundations
import Postgres

extension PostgresStore {
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
            // RETURNING has no order.
            let leased = rows.filter(\.isLeased).sorted { ($0.due, $0.entry.id) < ($1.due, $1.entry.id) }
            return PublishedLease(entries: leased.map(\.entry), examined: rows.count)
        }
    }

    func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        if ids.isEmpty { return }
        // Sorted, so that two processes never wait for each other's row locks.
        var parameters = PostgresParameters(capacity: ids.count * 20 + 64)
        parameters.append(ids.sorted()) { PostgresUUID($0) }
        parameters.append(until.milliseconds)
        _ = try await query(.confirm, parameters)
    }
}

extension PostgresStatement {
    /// The `due_at` of a published entry, so that the sweep of unpublished entries never finds it.
    static let never = Int64.max

    private static let attemptLimit = OutboxPolicy.attemptLimit.milliseconds

    fileprivate static let lease = PostgresStatement(
        lease(
            by: "due_at",
            """
            due_at = CASE WHEN seen.needs_notice THEN $4 + \(notice) WHEN seen.claim_end IS NULL THEN $2
                ELSE \(never) END, republish_at = seen.claim_end
            """, noticed: "due.due_at > n.created_at + \(OutboxPolicy.grace.milliseconds)"))

    fileprivate static let leasePublished = PostgresStatement(
        lease(
            by: "republish_at",
            """
            due_at = CASE WHEN seen.needs_notice THEN $4 + \(notice) ELSE outbox.due_at END,
            republish_at = CASE WHEN NOT seen.needs_notice THEN coalesce(seen.claim_end, $2) END
            """, noticed: "false"))

    private static let notice = OutboxPolicy.notice.milliseconds

    /// Skips rows locked by another process. The notification shows whether a dispatcher is working on it. That row is
    /// not locked: a claim that follows this lookup comes from a message that was not in the broker when it began.
    ///
    /// - Parameter noticed: whether an open first attempt had its notice: its entry is due later than it was stored.
    private static func lease(by due: String, _ change: String, noticed: String) -> String {
        """
        WITH due AS (
            SELECT notification_id, \(due) AS due_at FROM outbox WHERE \(due) <= $1
            ORDER BY \(due), notification_id LIMIT $3 FOR UPDATE SKIP LOCKED
        ), seen AS (
            SELECT notification_id, due_at, n.id IS NULL OR n.status > 1 AS is_final,
                CASE WHEN n.claimed_at > $4 - \(attemptLimit) THEN least(n.claimed_at, $4) + \(attemptLimit) END
                    AS claim_end,
                coalesce(\(isFirstAttemptOpen) AND NOT (\(noticed)), false) AS needs_notice
            FROM due LEFT JOIN notifications AS n ON n.id = due.notification_id
        ), gone AS (
            DELETE FROM outbox USING seen WHERE outbox.notification_id = seen.notification_id AND seen.is_final
        ), kept AS (
            UPDATE outbox SET \(change)
            FROM seen WHERE outbox.notification_id = seen.notification_id AND NOT seen.is_final
            RETURNING outbox.notification_id, outbox.traceparent, seen.due_at,
                seen.claim_end IS NULL AND NOT seen.needs_notice
        )
        SELECT * FROM kept UNION ALL SELECT notification_id, NULL, due_at, false FROM seen WHERE is_final
        """
    }

    /// Usually the dispatcher was faster: then the row is gone and nothing is written.
    fileprivate static let confirm = PostgresStatement(
        """
        UPDATE outbox SET due_at = \(never), republish_at = $2
        WHERE notification_id = ANY ($1::uuid[]) AND republish_at IS NULL
        """)

    /// Adds the rows of the CTE `open` (id, republish_at, traceparent) to the outbox as published.
    static let publishedOfOpen = """
        INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
        SELECT id, \(never), republish_at, traceparent FROM open
        ON CONFLICT (notification_id) DO UPDATE SET due_at = excluded.due_at, republish_at = excluded.republish_at
        """
}
