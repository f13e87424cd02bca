import Domain
import Foundations

// The part of `NotificationReader` that is no hot call.
extension SQLStore {
    /// Both databases know the length of a payload without reading it.
    func payloadBytes(of ids: [NotificationID], recipient: UserName) async throws -> Int {
        try await first(
            """
            SELECT CAST(sum(length(sealed)) AS bigint) FROM payloads JOIN notifications ON id = notification_id
            WHERE notification_id \(in: ids) AND recipient = \(recipient)
            """) ?? 0
    }

    func states(_ ids: [NotificationID], recipient: UserName) async throws -> [NotificationID: ReadingState] {
        let found = try await all(
            """
            SELECT id, expires_at, not_before, revoked_at IS NOT NULL, read_at IS NOT NULL, display FROM notifications
            WHERE id \(in: ids) AND recipient = \(recipient)
            """
        ) { row in
            let id: NotificationID = try row()
            let state = ReadingState(
                expiresAt: try row(), notBefore: try row(), isRevoked: try row(), isRead: try row(),
                display: try Display(stored: row()))
            return (id, state)
        }
        return Dictionary(found) { $1 }
    }
}

extension SQLStore {
    /// The number of unread notifications, beside each entry or alone. Recipients are compared as a range; see
    /// ``NotificationScan/range``. SQLite reads an index only.
    func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage {
        let limit = max(limit, 0)
        // One more than asked for tells whether there are more.
        let rows = try await all(
            InboxPage.sql(of: recipient, unreadOnly: unreadOnly, after: after, limit: limit + 1, now: now)
        ) { row in
            let (unread, id): (Int, NotificationID?) = (try row(), try row())
            return (unread, try id.map { InboxPage.Entry(id: $0, createdAt: try row(), isRead: try row()) })
        }
        // A join guarantees no order.
        let entries = rows.compactMap(\.1).sorted { $0.id < $1.id }
        let page = Array(entries.prefix(limit))
        return InboxPage(
            entries: page, unread: rows.first?.0 ?? 0, next: entries.count > limit ? page.last?.id : nil)
    }

    func unreadCount(of recipient: UserName, now: Timestamp) async throws -> Int {
        try await first(InboxPage.unreadSQL(of: recipient, now: now)) ?? 0
    }
}

extension InboxPage {
    static func sql(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) -> SQL {
        """
        SELECT counted.unread, entry.id, entry.created_at, entry.is_read
        FROM (\(unreadSQL(of: recipient, now: now))) AS counted
        LEFT JOIN (
            SELECT id, created_at, read_at IS NOT NULL AS is_read FROM notifications
            WHERE recipient <= \(recipient)
                AND (recipient, id) > (\(recipient), \(after ?? NotificationID(high: 0, low: 0)))
                AND \(readable(at: now)) \(raw: unreadOnly ? "AND read_at IS NULL" : "")
            ORDER BY recipient, id LIMIT \(limit)
        ) AS entry ON true
        """
    }

    /// Counts among the newest, so that its time is bounded.
    static func unreadSQL(of recipient: UserName, now: Timestamp) -> SQL {
        """
        SELECT count(*) AS unread
        FROM (
            SELECT read_at, revoked_at, expires_at, not_before FROM notifications
            WHERE recipient >= \(recipient) AND recipient <= \(recipient)
            ORDER BY recipient DESC, id DESC LIMIT \(raw: "\(maxUnreadScan)")
        ) AS newest
        WHERE read_at IS NULL AND \(readable(at: now))
        """
    }

    private static func readable(at now: Timestamp) -> SQL {
        "revoked_at IS NULL AND expires_at > \(now) AND (not_before IS NULL OR not_before <= \(now))"
    }
}
