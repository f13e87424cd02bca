import GRDB
import SecurePushCore

extension SQLiteStore: Inbox {
    func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage {
        try checkRunning()
        let limit = max(limit, 0)
        let after = after ?? NotificationID(high: 0, low: 0)
        return try await database.read { db in
            let time = now.milliseconds
            let select = try db.cachedStatement(sql: unreadOnly ? InboxPage.unreadEntries : InboxPage.allEntries)
            let arguments: StatementArguments = [recipient.text, after.data, time, time, limit + 1]
            let entries = try Row.fetchAll(select, arguments: arguments).map { try InboxPage.Entry($0) }
            let count = try db.cachedStatement(sql: InboxPage.unreadCount)
            let unread = try Int.fetchOne(count, arguments: [recipient.text, time, time]) ?? 0
            let shown = Array(entries.prefix(limit))
            return InboxPage(entries: shown, unread: unread, next: entries.count > limit ? shown.last?.id : nil)
        }
    }
}

extension InboxPage {
    private static let readable =
        "revoked_at IS NULL AND expires_at > ? AND (not_before IS NULL OR not_before <= ?)"

    static let allEntries = """
        SELECT id, created_at, read_at FROM notifications WHERE recipient = ? AND id > ? AND \(readable)
        ORDER BY id LIMIT ?
        """

    static let unreadEntries = """
        SELECT id, created_at, read_at FROM notifications WHERE recipient = ? AND id > ? AND \(readable)
            AND read_at IS NULL
        ORDER BY id LIMIT ?
        """

    static let unreadCount =
        "SELECT count(*) FROM notifications WHERE recipient = ? AND \(readable) AND read_at IS NULL"
}

extension InboxPage.Entry {
    fileprivate init(_ row: Row) throws {
        guard let createdAt = row.timestamp(1) else { throw Row.unreadable("created_at") }
        self.init(id: try row.notificationID(0), createdAt: createdAt, isRead: !row.hasNull(atIndex: 2))
    }
}
