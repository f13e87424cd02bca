import Domain
import Foundations

// The part of `Outbox` that is no hot call.
extension SQLStore {
    /// Both scans are bounded, because this runs every few seconds, even under load. The oldest entry is searched among
    /// those with the earliest due times. A leased entry is due again later; whether it was due once shows in its
    /// notification. One that waits for a time (``DispatchOutcome/dueAgain``) looks published and counts when that time
    /// has come.
    func backlog(now: Timestamp) async throws -> OutboxBacklog {
        try await first(
            """
            SELECT (
                SELECT count(*) FROM (SELECT 1 FROM outbox WHERE due_at < \(.never) LIMIT 100000) AS waiting
            ), (
                SELECT min(CASE WHEN n.not_before > n.created_at THEN n.not_before ELSE n.created_at END)
                FROM (
                    SELECT notification_id, due_at, republish_at FROM outbox WHERE due_at < \(.never)
                    ORDER BY due_at LIMIT 10000
                ) AS entry
                CROSS JOIN notifications AS n
                WHERE n.id = entry.notification_id AND (
                    entry.due_at <= \(now) OR entry.republish_at IS NULL AND CASE
                        WHEN n.not_before > n.created_at THEN n.not_before
                        ELSE n.created_at + \(OutboxPolicy.grace.milliseconds) END <= \(now))
            )
            """
        ) { row in OutboxBacklog(count: try row(), oldest: try row()) } ?? OutboxBacklog(count: 0, oldest: nil)
    }
}
