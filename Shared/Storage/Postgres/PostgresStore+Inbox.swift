import Postgres
import SecurePushCore

extension PostgresStore: Inbox {
    /// How many of a user's notifications are looked at to count the unread ones: a bound of time.
    static let unreadScan = 10_000

    /// Unread ones are counted among the user's newest ``unreadScan`` notifications, expired ones that
    /// are not yet forgotten included: exactly, but for users who get more than a hundred a day.
    func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage {
        let limit = max(limit, 0)
        var parameters = PostgresParameters()
        parameters.append(recipient.text)
        parameters.append(now.milliseconds)
        parameters.append(PostgresUUID(after ?? NotificationID(high: 0, low: 0)))
        parameters.append(unreadOnly)
        // One more than asked for tells whether there are more.
        parameters.append(Int64(limit) + 1)
        let result = try await query(.inbox, parameters)
        return try decoding {
            var unread = 0
            var entries: [InboxPage.Entry] = []
            for row in result {
                unread = Int(try row.decode(0, as: Int64.self))
                guard let id = try row.decodeIfPresent(1, as: PostgresUUID.self) else { continue }
                entries.append(
                    InboxPage.Entry(
                        id: NotificationID(id), createdAt: try row.timestamp(2), isRead: try row.decode(3)))
            }
            // A join promises no order.
            entries.sort { $0.id < $1.id }
            let page = Array(entries.prefix(limit))
            return InboxPage(entries: page, unread: unread, next: entries.count > limit ? page.last?.id : nil)
        }
    }
}

extension PostgresStatement {
    private static let isReadable = """
        revoked_at IS NULL AND expires_at > $2 AND (not_before IS NULL OR not_before <= $2)
        """

    /// The number of the unread ones, beside each entry or alone. The recipient is a range for the sake of the plan, as
    /// the sender is in ``page(by:of:matching:)``.
    fileprivate static let inbox = PostgresStatement(
        """
        SELECT counted.unread, entry.id, entry.created_at, entry.is_read
        FROM (
            SELECT count(*) AS unread
            FROM (
                SELECT read_at, revoked_at, expires_at, not_before FROM notifications
                WHERE recipient >= $1 AND recipient <= $1
                ORDER BY recipient DESC, id DESC LIMIT \(PostgresStore.unreadScan)
            ) AS newest
            WHERE read_at IS NULL AND \(isReadable)
        ) AS counted
        LEFT JOIN (
            SELECT id, created_at, read_at IS NOT NULL AS is_read FROM notifications
            WHERE recipient <= $1 AND (recipient, id) > ($1, $3) AND \(isReadable) AND (NOT $4 OR read_at IS NULL)
            ORDER BY recipient, id LIMIT $5
        ) AS entry ON true
        """)
}
