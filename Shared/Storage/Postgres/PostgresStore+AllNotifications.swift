import Postgres
import SecurePushCore

extension PostgresStore {
    func census(since: Timestamp, now: Timestamp) async throws -> NotificationCensus {
        var parameters = PostgresParameters()
        parameters.append(PostgresUUID(NotificationID.first(at: since)))
        parameters.append(now.milliseconds)
        let result = try await query(.census, parameters)
        return try decoding {
            var census = NotificationCensus()
            guard let row = result.first else { return census }
            let numbers = try (0..<8).map { Int(try row.decode($0, as: Int64.self)) }
            (census.accepted, census.published, census.pushed, census.read) =
                (numbers[0], numbers[1], numbers[2], numbers[3])
            (census.shown, census.partial, census.failed, census.revoked) =
                (numbers[4], numbers[5], numbers[6], numbers[7])
            census.oldest = try row.timestampIfPresent(8)
            census.oldestUnfinished = try row.decodeIfPresent(9, as: PostgresUUID.self).map {
                NotificationID($0).timestamp
            }
            return census
        }
    }

    func page(_ query: OperatorQuery) async throws -> OperatorPage {
        guard query.limit > 0 else { return OperatorPage(entries: [], next: nil) }
        var parameters = PostgresParameters()
        parameters.append(PostgresUUID(query.before ?? NotificationID(high: .max, low: .max)))
        parameters.append(PostgresUUID(NotificationID.first(at: query.since)))
        parameters.append(query.onlyFailed)
        parameters.append(Int64(query.limit) + 1)
        if let recipient = query.recipient { parameters.append(recipient.text) }
        let result = try await self.query(
            query.recipient == nil ? .operatorPage : .operatorPageToRecipient, parameters)
        return try decoding { try OperatorPage(result, limit: query.limit) }
    }

    func life(of id: NotificationID) async throws -> NotificationLife? {
        var parameters = PostgresParameters()
        parameters.append(PostgresUUID(id))
        let result = try await query(.life, parameters)
        return try decoding { try result.first.map { try NotificationLife($0) } }
    }
}

extension PostgresStatement {
    /// The newest rows are the end of the primary key, because IDs ascend with time. The outbox is looked up only for
    /// rows without a dispatcher's claim. It has no row that the broker has confirmed and that is `accepted` for longer
    /// than a moment.
    fileprivate static let census = PostgresStatement(
        """
        SELECT count(*),
            count(*) FILTER (WHERE CASE WHEN status > 0 THEN true ELSE NOT EXISTS (
                SELECT FROM outbox WHERE notification_id = id AND due_at < \(never)) END),
            count(*) FILTER (WHERE \(isPushed("deliveries"))), count(*) FILTER (WHERE read_at IS NOT NULL),
            count(*) FILTER (WHERE shown_at IS NOT NULL), count(*) FILTER (WHERE status = 3),
            count(*) FILTER (WHERE status = 4), count(*) FILTER (WHERE revoked_at IS NOT NULL), min(created_at),
            (
                SELECT notification_id
                FROM (
                    SELECT notification_id, due_at FROM outbox
                    ORDER BY notification_id LIMIT \(NotificationCensus.maxOutboxScan)
                ) AS oldest
                WHERE due_at <= $2 OR due_at = \(never)
                ORDER BY notification_id LIMIT 1
            )
        FROM (
            SELECT id, status, deliveries, read_at, shown_at, revoked_at, created_at FROM notifications
            WHERE id >= $1 ORDER BY id DESC LIMIT \(NotificationCensus.maxScan)
        ) AS newest
        """)

    fileprivate static let operatorPage = PostgresStatement(operatorPage(where: "id < $1", order: "id DESC"))

    /// A range and not equality, as in a sender's list: only the index by recipient has this order.
    fileprivate static let operatorPageToRecipient = PostgresStatement(
        operatorPage(where: "recipient >= $5 AND (recipient, id) < ($5, $1)", order: "recipient DESC, id DESC"))

    /// The inner LIMIT bounds the scan; its last row is returned whether it matches or not.
    private static func operatorPage(where range: String, order: String) -> String {
        """
        SELECT \(recordColumns), sender, is_match, position = \(NotificationCensus.maxScan) AS is_end
        FROM (
            SELECT \(recordColumns), sender, row_number() OVER () AS position,
                NOT $3 OR status IN (3, 4) AND revoked_at IS NULL AS is_match
            FROM (
                SELECT \(recordColumns), sender FROM notifications
                WHERE \(range) AND id >= $2 ORDER BY \(order) LIMIT \(NotificationCensus.maxScan)
            ) AS newest
        ) AS seen
        WHERE is_match OR position = \(NotificationCensus.maxScan)
        LIMIT $4
        """
    }

    fileprivate static let life = PostgresStatement(
        """
        SELECT \(recordColumns), \(followUpColumns("n")), sender, attempt,
            (SELECT due_at FROM outbox WHERE notification_id = n.id)
        FROM notifications AS n WHERE id = $1
        """)
}

extension OperatorPage {
    /// Reads the rows of a page.
    fileprivate init(_ result: PostgresResult, limit: Int) throws {
        var entries: [Entry] = []
        var end: NotificationID?
        let columns = PostgresStatement.recordColumnCount
        for row in result {
            let isMatch = try row.decode(columns + 1, as: Bool.self)
            if isMatch, entries.count == limit {
                self.init(entries: entries, next: entries.last?.record.id)
                return
            }
            let record = try NotificationRecord(row)
            if isMatch { entries.append(Entry(record: record, sender: try row.decode(columns))) }
            if try row.decode(columns + 2, as: Bool.self) { end = record.id }
        }
        self.init(entries: entries, next: end)
    }
}

extension NotificationLife {
    fileprivate init(_ row: PostgresRow) throws {
        let first = PostgresStatement.recordColumnCount + 4
        let due = try row.decodeIfPresent(first + 2, as: Int64.self)
        self.init(
            record: try NotificationRecord(withFollowUps: row), sender: try row.decode(first),
            attempt: Int(try row.decode(first + 1, as: Int32.self)), outbox: try OutboxState(due: due))
    }
}
