import Postgres
import SecurePushCore

extension PostgresStore: SenderNotifications {
    /// How many rows one page looks through before it gives up and says where to go on: a bound of time, whatever is
    /// asked for.
    static let pageScan = 10_000

    func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? {
        var parameters = PostgresParameters()
        parameters.append(PostgresUUID(id))
        parameters.append(sender)
        let result = try await query(.record, parameters)
        return try decoding { try result.first.map(NotificationRecord.init) }
    }

    /// Looks through at most ``pageScan`` of the sender's notifications, of those to one recipient where one is given.
    func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage {
        guard query.limit > 0 else { return NotificationPage(records: [], next: nil) }
        var parameters = PostgresParameters()
        parameters.append(query.sender)
        parameters.append(PostgresUUID(query.before ?? NotificationID(high: .max, low: .max)))
        parameters.append(query.status?.code)
        parameters.append(now.milliseconds)
        // One more than asked for tells whether there are more; and one may be there only to say where the scan ended.
        parameters.append(Int64(query.limit) + 1)
        if let recipient = query.recipient { parameters.append(recipient.text) }
        let result = try await self.query(query.recipient == nil ? .page : .pageToRecipient, parameters)
        return try decoding { try NotificationPage(result, limit: query.limit) }
    }

    func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool {
        var parameters = PostgresParameters()
        parameters.append(PostgresUUID(id))
        parameters.append(sender)
        parameters.append(now.milliseconds)
        return try await !query(.revoke, parameters).isEmpty
    }
}

extension PostgresStore {
    /// For the test of its plan.
    static var pageToRecipientSQL: String { PostgresStatement.pageToRecipient.sql }
}

extension PostgresStatement {
    /// What ``NotificationRecord`` is read from.
    static let recordColumns =
        "id, recipient, created_at, expires_at, not_before, status, deliveries, read_at, revoked_at, platforms"

    fileprivate static let record = PostgresStatement(
        "SELECT \(recordColumns) FROM notifications WHERE id = $1 AND sender = $2")

    fileprivate static let page = PostgresStatement(page(by: ["sender"], of: ["$1"]))

    /// Sender and recipient are both in the index: no row of another sender is met, and none can be where a page ends.
    fileprivate static let pageToRecipient = PostgresStatement(page(by: ["sender", "recipient"], of: ["$1", "$6"]))

    /// The status is derived as ``NotificationRecord/status(at:)`` does. The inner LIMIT bounds the scan; the rows are
    /// counted as they come, and the last one of a scan that was cut is returned whether it matches or not.
    ///
    /// The columns are compared as a range, not for equality: told that they are one value, the planner may think of
    /// walking along the primary key past everyone else's rows. The order of a range is that of one index only.
    private static func page(by columns: [String], of values: [String]) -> String {
        let (list, place) = (columns.joined(separator: ", "), values.joined(separator: ", "))
        let order = (columns + ["id"]).map { $0 + " DESC" }.joined(separator: ", ")
        return """
            SELECT \(recordColumns), is_match, position = \(PostgresStore.pageScan) AS is_end
            FROM (
                SELECT \(recordColumns), row_number() OVER () AS position,
                    ($3::smallint IS NULL OR $3 = CASE
                        WHEN revoked_at IS NOT NULL THEN 7 WHEN read_at IS NOT NULL THEN 5 WHEN expires_at <= $4 THEN 6
                        ELSE status END) AS is_match
                FROM (
                    SELECT \(recordColumns) FROM notifications
                    WHERE (\(list)) >= (\(place)) AND (\(list), id) < (\(place), $2)
                    ORDER BY \(order) LIMIT \(PostgresStore.pageScan)
                ) AS newest
            ) AS seen
            WHERE is_match OR position = \(PostgresStore.pageScan)
            LIMIT $5
            """
    }

    /// Order of the locks as in all statements: the notification, its payload, its outbox entry.
    fileprivate static let revoke = PostgresStatement(
        """
        WITH revoked AS (
            UPDATE notifications SET revoked_at = coalesce(revoked_at, $3) WHERE id = $1 AND sender = $2
            RETURNING id, expires_at
        ), destroyed AS (
            UPDATE payloads SET sealed = NULL, purge_at = revoked.expires_at + \(tombstone)
            FROM revoked WHERE notification_id = revoked.id AND sealed IS NOT NULL
        ), withdrawn AS (
            DELETE FROM outbox USING revoked WHERE notification_id = revoked.id
        )
        SELECT id FROM revoked
        """)
}

extension NotificationPage {
    /// Rows of ``PostgresStatement/page``.
    fileprivate init(_ result: PostgresResult, limit: Int) throws {
        var records: [NotificationRecord] = []
        var end: NotificationID?
        for row in result {
            let isMatch = try row.decode(10, as: Bool.self)
            if isMatch, records.count == limit {
                self.init(records: records, next: records.last?.id)
                return
            }
            let record = try NotificationRecord(row)
            if isMatch { records.append(record) }
            if try row.decode(11, as: Bool.self) { end = record.id }
        }
        self.init(records: records, next: end)
    }
}

extension NotificationStatus {
    /// The number for which the statements take it.
    fileprivate var code: Int16 {
        switch self {
        case .read: 5
        case .expired: 6
        case .revoked: 7
        case .accepted, .queued, .dispatched, .partial, .failed: Int16(dispatchStatus?.rawValue ?? 0)
        }
    }
}

extension NotificationRecord {
    /// A row of ``PostgresStatement/recordColumns``.
    init(_ row: PostgresRow) throws {
        guard let status = DispatchStatus(rawValue: Int(try row.decode(5, as: Int16.self))) else {
            throw unreadable("status")
        }
        self.init(
            id: NotificationID(try row.decode(0, as: PostgresUUID.self)), recipient: try row.userName(1),
            createdAt: try row.timestamp(2), expiresAt: try row.timestamp(3),
            notBefore: try row.timestampIfPresent(4),
            platforms: try row.decodeIfPresent(9, as: String.self).map(Platform.platforms(list:)),
            dispatchStatus: status,
            deliveries: try row.decodeIfPresent(6, as: String.self).map(DeliveriesCoding.decode) ?? [],
            readAt: try row.timestampIfPresent(7), revokedAt: try row.timestampIfPresent(8))
    }
}
