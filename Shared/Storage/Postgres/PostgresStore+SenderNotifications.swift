import Postgres
import SecurePushCore

extension PostgresStore {
    /// How many rows one page scans before it ends early and says where to continue: this bounds the time of any query.
    static let maxScan = 10_000

    func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? {
        var parameters = PostgresParameters()
        parameters.append(PostgresUUID(id))
        parameters.append(sender)
        let result = try await query(.record, parameters)
        return try decoding { try result.first.map { try NotificationRecord(withFollowUps: $0) } }
    }

    /// Scans at most ``maxScan`` of the sender's notifications, or of those to one recipient.
    func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage {
        guard query.limit > 0 else { return NotificationPage(records: [], next: nil) }
        var parameters = PostgresParameters()
        parameters.append(query.sender)
        parameters.append(PostgresUUID(query.before ?? NotificationID(high: .max, low: .max)))
        parameters.append(query.status?.code)
        parameters.append(now.milliseconds)
        // One more than requested shows whether there are more; another may only show where the scan ended.
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
    /// For the test of its query plan.
    static var pageToRecipientSQL: String { PostgresStatement.pageToRecipient.sql }
}

extension PostgresStatement {
    /// The columns of ``NotificationRecord``.
    static let recordColumns = recordColumnList.joined(separator: ", ")

    /// The number of those columns. Further columns of a statement begin at this index.
    static let recordColumnCount = recordColumnList.count

    private static let recordColumnList = [
        "id", "recipient", "created_at", "expires_at", "not_before", "status", "deliveries", "read_at", "revoked_at",
        "platforms", "shown_at",
    ]

    fileprivate static let record = PostgresStatement(
        """
        SELECT \(recordColumns), \(followUpColumns("n")) FROM notifications AS n WHERE id = $1 AND sender = $2
        """)

    fileprivate static let page = PostgresStatement(page(by: ["sender"], of: ["$1"]))

    /// Both columns are in the index, so rows of other senders are not scanned, and no page can end at one.
    fileprivate static let pageToRecipient = PostgresStatement(page(by: ["sender", "recipient"], of: ["$1", "$6"]))

    /// The status is derived as in ``NotificationRecord/status(at:)``. The inner LIMIT bounds the scan. The rows are
    /// numbered, and the last row of a scan that reached the limit is returned whether it matches or not.
    ///
    /// The columns are compared as a range and not for equality: with equality the planner may choose to walk along the
    /// primary key, past the rows of all other senders. Only one index has the order of the range.
    private static func page(by columns: [String], of values: [String]) -> String {
        let (list, place) = (columns.joined(separator: ", "), values.joined(separator: ", "))
        let order = (columns + ["id"]).map { $0 + " DESC" }.joined(separator: ", ")
        return """
            SELECT \(recordColumns), is_match, position = \(PostgresStore.maxScan) AS is_end
            FROM (
                SELECT \(recordColumns), row_number() OVER () AS position,
                    ($3::smallint IS NULL OR $3 = CASE
                        WHEN revoked_at IS NOT NULL THEN 7 WHEN read_at IS NOT NULL THEN 5 WHEN expires_at <= $4 THEN 6
                        ELSE status END) AS is_match
                FROM (
                    SELECT \(recordColumns) FROM notifications
                    WHERE (\(list)) >= (\(place)) AND (\(list), id) < (\(place), $2)
                    ORDER BY \(order) LIMIT \(PostgresStore.maxScan)
                ) AS newest
            ) AS seen
            WHERE is_match OR position = \(PostgresStore.maxScan)
            LIMIT $5
            """
    }

    /// Lock order as in all statements: the notification, its payload, its outbox entry. Only the call that sets the
    /// time withdraws, and only a notification that was pushed. Platforms from which the first read has withdrawn it
    /// get no second withdrawal.
    fileprivate static let revoke = PostgresStatement(
        """
        WITH revoked AS (
            UPDATE notifications SET revoked_at = coalesce(revoked_at, $3) WHERE id = $1 AND sender = $2
            RETURNING id, expires_at, revoked_at, deliveries
        ), destroyed AS (
            UPDATE payloads SET sealed = NULL, purge_at = revoked.expires_at + \(tombstone)
            FROM revoked WHERE notification_id = revoked.id AND sealed IS NOT NULL
        ), taken_out AS (
            DELETE FROM outbox USING revoked WHERE notification_id = revoked.id
        ), pushed AS (
            SELECT id, revoked_at AS since FROM revoked WHERE revoked_at = $3 AND \(isPushed("deliveries"))
        ), withdrawn AS (
            \(withdrawalsOfPushed)
        )
        SELECT id FROM revoked
        """)
}

extension NotificationPage {
    /// Reads the rows of ``PostgresStatement/page``.
    fileprivate init(_ result: PostgresResult, limit: Int) throws {
        var records: [NotificationRecord] = []
        var end: NotificationID?
        let columns = PostgresStatement.recordColumnCount
        for row in result {
            let isMatch = try row.decode(columns, as: Bool.self)
            if isMatch, records.count == limit {
                self.init(records: records, next: records.last?.id)
                return
            }
            let record = try NotificationRecord(row)
            if isMatch { records.append(record) }
            if try row.decode(columns + 1, as: Bool.self) { end = record.id }
        }
        self.init(records: records, next: end)
    }
}

extension NotificationStatus {
    /// The number of the status in SQL.
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
    /// Reads a row of ``PostgresStatement/recordColumns``.
    init(_ row: PostgresRow) throws {
        guard let status = DispatchStatus(rawValue: Int(try row.decode(5, as: Int16.self))) else {
            throw unreadable("status")
        }
        self.init(
            id: NotificationID(try row.decode(0, as: PostgresUUID.self)), recipient: try row.userName(1),
            createdAt: try row.timestamp(2), expiresAt: try row.timestamp(3),
            notBefore: try row.timestampIfPresent(4),
            platforms: try row.decodeIfPresent(9, as: String.self).map(StorageCoding.decodePlatforms),
            dispatchStatus: status,
            deliveries: try row.decodeIfPresent(6, as: String.self).map(StorageCoding.decodeDeliveries) ?? [],
            readAt: try row.timestampIfPresent(7), revokedAt: try row.timestampIfPresent(8),
            shownAt: try row.timestampIfPresent(10))
    }
}
