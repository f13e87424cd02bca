import Postgres
import SecurePushCore

extension PostgresStore: Outbox {
    static let backlogScan = 100_000
    static let dueScan = 10_000

    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        if limit <= 0 { return [] }
        var parameters = PostgresParameters()
        parameters.append(now.milliseconds)
        parameters.append(until.milliseconds)
        parameters.append(Int64(limit))
        let result = try await query(.lease, parameters)
        return try decoding {
            let leased = try result.map { row in
                let id = NotificationID(try row.decode(0, as: PostgresUUID.self))
                let entry = OutboxEntry(id: id, traceparent: try row.decodeIfPresent(1))
                return (due: try row.decode(2, as: Int64.self), entry: entry)
            }
            // What an UPDATE returns has no order.
            return leased.sorted { ($0.due, $0.entry.id) < ($1.due, $1.entry.id) }.map(\.entry)
        }
    }

    func remove(_ ids: [NotificationID]) async throws {
        if ids.isEmpty { return }
        try requireConnection()
        _ = try await removals.submit(ids)
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
    /// Rows that another process is leasing at this moment are skipped, not waited for.
    fileprivate static let lease = PostgresStatement(
        """
        WITH due AS (
            SELECT notification_id, due_at FROM outbox WHERE due_at <= $1
            ORDER BY due_at, notification_id LIMIT $3 FOR UPDATE SKIP LOCKED
        )
        UPDATE outbox SET due_at = $2 FROM due WHERE outbox.notification_id = due.notification_id
        RETURNING outbox.notification_id, outbox.traceparent, due.due_at
        """)

    fileprivate static let remove = PostgresStatement(
        "DELETE FROM outbox USING unnest($1::uuid[]) AS sent (id) WHERE outbox.notification_id = sent.id")

    /// Both looks are bounded, for this is asked every few seconds and the more waits the less time there is. IDs sort
    /// by time, so the smallest is the oldest: of those that have been due for longest.
    fileprivate static let backlog = PostgresStatement(
        """
        SELECT (SELECT count(*) FROM (SELECT FROM outbox LIMIT \(PostgresStore.backlogScan)) AS waiting),
            (
                SELECT notification_id
                FROM (
                    SELECT notification_id FROM outbox WHERE due_at <= $1 ORDER BY due_at LIMIT \(PostgresStore.dueScan)
                ) AS due
                ORDER BY notification_id LIMIT 1
            )
        """)
}

extension PostgresClient {
    func remove(_ group: [NotificationID]) async throws -> [Void] {
        // In one order, so that two processes cannot wait for each other's row locks.
        var parameters = PostgresParameters(capacity: group.count * 20 + 32)
        parameters.append(group.sorted()) { PostgresUUID($0) }
        _ = try await mapped { try await self.query(.remove, parameters) }
        return [Void](repeating: (), count: group.count)
    }
}
