import Domain
import Foundations

extension SQLStore {
    /// The newest rows are the end of the primary key, because IDs ascend with time. The outbox is looked up only for
    /// rows without a dispatcher's claim. It has no row that the broker has confirmed and that is `accepted` for longer
    /// than a moment.
    func census(since: Timestamp, now: Timestamp) async throws -> NotificationCensus {
        try await first(
            """
            SELECT count(*),
                count(*) FILTER (WHERE CASE WHEN status > 0 THEN true ELSE NOT EXISTS (
                    SELECT 1 FROM outbox WHERE notification_id = id AND due_at < \(.never)) END),
                count(*) FILTER (WHERE \(StorageCoding.sent, isIn: "deliveries")),
                count(*) FILTER (WHERE read_at IS NOT NULL), count(*) FILTER (WHERE shown_at IS NOT NULL),
                count(*) FILTER (WHERE status = 3), count(*) FILTER (WHERE status = 4),
                count(*) FILTER (WHERE revoked_at IS NOT NULL), min(created_at),
                (
                    SELECT notification_id
                    FROM (
                        SELECT notification_id, due_at FROM outbox
                        ORDER BY notification_id LIMIT \(raw: "\(NotificationCensus.maxOutboxScan)")
                    ) AS oldest
                    WHERE due_at <= \(now) OR due_at = \(.never)
                    ORDER BY notification_id LIMIT 1
                )
            FROM (
                SELECT id, status, deliveries, read_at, shown_at, revoked_at, created_at FROM notifications
                WHERE id >= \(NotificationID.first(at: since)) ORDER BY id DESC
                LIMIT \(raw: "\(NotificationCensus.maxScan)")
            ) AS newest
            """
        ) { row in
            var census = NotificationCensus()
            (census.accepted, census.published, census.pushed) = (try row(), try row(), try row())
            (census.read, census.shown, census.partial) = (try row(), try row(), try row())
            (census.failed, census.revoked, census.oldest) = (try row(), try row(), try row())
            census.oldestUnfinished = (try row() as NotificationID?)?.timestamp
            return census
        } ?? NotificationCensus()
    }

    func page(_ query: OperatorQuery) async throws -> OperatorPage { try await page(NotificationScan(query)) }

    func life(of id: NotificationID) async throws -> NotificationLife? {
        try await first(
            """
            SELECT \(raw: NotificationRecord.columnsWithFollowUps), sender, attempt,
                (SELECT due_at FROM outbox WHERE notification_id = n.id)
            FROM \(raw: NotificationRecord.tables) WHERE id = \(id)
            """
        ) { row in
            NotificationLife(
                record: try NotificationRecord(withFollowUps: &row), sender: try row(), attempt: try row(),
                outbox: try NotificationLife.OutboxState(due: try row()))
        }
    }
}

extension NotificationScan {
    init(_ query: OperatorQuery) {
        let before = query.before ?? NotificationID(high: .max, low: .max)
        let since = NotificationID.first(at: query.since)
        let recipient = query.recipient
        self.init(
            range: recipient.map { "recipient >= \($0) AND (recipient, id) < (\($0), \(before)) AND id >= \(since)" }
                ?? "id < \(before) AND id >= \(since)",
            order: recipient == nil ? "id DESC" : "recipient DESC, id DESC",
            match: query.onlyFailed ? "status IN (3, 4) AND revoked_at IS NULL" : "true", limit: query.limit)
    }
}

extension NotificationLife.OutboxState {
    /// The state of an entry with this `due_at`; `nil` for no entry.
    fileprivate init(due: Int64?) throws {
        switch due {
        case nil: self = .none
        case Int64.max: self = .published
        case let due?: self = .waiting(due: try Timestamp(stored: due, column: "due_at"))
        }
    }
}
