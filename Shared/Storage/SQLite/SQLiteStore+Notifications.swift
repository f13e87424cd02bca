import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        if let notRunning { return completion(.failure(notRunning)) }
        writes.submit(notifications.map { .append($0) }) { completion($0.map { _ in }) }
    }
}

extension SQLiteStore {
    func find(
        _ id: NotificationID, recipient: UserName,
        then completion: @escaping @Sendable (Result<StoredNotification?, any Error>) -> Void
    ) {
        if let notRunning { return completion(.failure(notRunning)) }
        finds.submit(SQLiteFind(id: id, recipient: recipient), then: completion)
    }

    func markRead(_ ids: [NotificationID], at time: Timestamp) async throws {
        _ = try await submit(ids.map { .markRead($0, time) })
    }

    func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) {
        if let notRunning { return completion(.failure(notRunning)) }
        writes.submit(.markRead(id, time)) { completion($0.map { _ in }) }
    }
}

/// A read of one notification by its recipient; several share a read transaction.
struct SQLiteFind: Sendable {
    var id: NotificationID
    var recipient: UserName

    /// See ``FailedWork``.
    var kind: String { "find" }

    /// The recipient is part of the query: a missing and another user's notification give the same result.
    func execute(_ db: Database) throws -> StoredNotification? {
        let statement = try db.cachedStatement(
            sql: """
                SELECT created_at, expires_at, read_at, revoked_at, traceparent, key_id, sealed, not_before
                FROM notifications LEFT JOIN payloads ON notification_id = id WHERE id = ? AND recipient = ?
                """)
        guard let row = try Row.fetchOne(statement, arguments: [id.data, recipient.text]) else { return nil }
        guard let createdAt = row.timestamp(0), let expiresAt = row.timestamp(1) else {
            throw Row.unreadable("created_at")
        }
        let payload: SealedPayload?
        if let keyID: String = row[5], let sealed: Data = row[6] {
            payload = SealedPayload(keyID: keyID, bytes: [UInt8](sealed))
        } else {
            payload = nil
        }
        return StoredNotification(
            id: id, createdAt: createdAt, expiresAt: expiresAt, notBefore: row.timestamp(7), readAt: row.timestamp(2),
            isRevoked: row.timestamp(3) != nil, payload: payload, traceparent: row[4])
    }
}

extension SQLiteStore {
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
            let unread = try InboxPage.unread(of: recipient, now: now, db)
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

    /// Among the newest, so that its time is bounded.
    static let unreadCount = """
        SELECT count(*) FROM (
            SELECT read_at, revoked_at, expires_at, not_before FROM notifications WHERE recipient = ?
            ORDER BY id DESC LIMIT \(maxUnreadScan)
        ) WHERE \(readable) AND read_at IS NULL
        """
}

extension InboxPage.Entry {
    fileprivate init(_ row: Row) throws {
        guard let createdAt = row.timestamp(1) else { throw Row.unreadable("created_at") }
        self.init(id: try row.notificationID(0), createdAt: createdAt, isRead: !row.hasNull(atIndex: 2))
    }
}

extension SQLiteStore {
    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest? {
        guard case .earlier(let earlier)? = try await submit([.appendOnce(notifications, request, now: now)]).first
        else { return nil }
        return earlier
    }

    func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest? {
        try checkRunning()
        return try await database.read { db in try IdempotentRequest.fetch(key, now: now, db) }
    }
}

extension SQLiteStore {
    func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: SQLitePage.record)
            guard let row = try Row.fetchOne(statement, arguments: [id.data, sender]) else { return nil }
            let record = try NotificationRecord(row).withDeliveries(row)
            let hasReminders: Bool = try row.value(NotificationRecord.columnCount, column: "remind")
            return try SQLiteFollowUpChange.adding(to: record, hasReminders: hasReminders, db)
        }
    }

    func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage {
        try checkRunning()
        return try await database.read { db in try SQLitePage(query: query, now: now).execute(db) }
    }

    func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool {
        guard case .revoked(let isThere)? = try await submit([.revoke(id, sender: sender, now)]).first else {
            return false
        }
        return isThere
    }
}

/// A read of one page of a sender's list.
struct SQLitePage: Sendable {
    var query: NotificationQuery
    var now: Timestamp

    /// How many rows one page scans for matching ones: about ten milliseconds.
    static var maxScan: Int { 10_000 }

    func execute(_ db: Database, scanLimit: Int = maxScan) throws -> NotificationPage {
        let before = query.before ?? NotificationID(high: .max, low: .max)
        let rows: RowCursor
        if let recipient = query.recipient {
            let statement = try db.cachedStatement(sql: Self.toRecipient)
            rows = try Row.fetchCursor(
                statement, arguments: [query.sender, recipient.text, before.data, scanLimit + 1])
        } else {
            let statement = try db.cachedStatement(sql: Self.ofSender)
            rows = try Row.fetchCursor(statement, arguments: [query.sender, before.data, scanLimit + 1])
        }
        var records: [NotificationRecord] = []
        var seen = 0
        var last: NotificationID?
        while let row = try rows.next() {
            if seen == scanLimit { return NotificationPage(records: records, next: last) }
            seen += 1
            let record = try NotificationRecord(row)
            last = record.id
            if let status = query.status, record.status(at: now) != status { continue }
            if records.count >= query.limit { return NotificationPage(records: records, next: records.last?.id) }
            records.append(try record.withDeliveries(row))
        }
        return NotificationPage(records: records, next: nil)
    }

    /// The columns of the record, and then whether it has reminders.
    static let record = """
        SELECT \(NotificationRecord.columns), remind IS NOT NULL FROM notifications WHERE id = ? AND sender = ?
        """

    static let ofSender = """
        SELECT \(NotificationRecord.columns) FROM notifications WHERE sender = ? AND id < ? ORDER BY id DESC LIMIT ?
        """

    /// Both columns are in the index, so rows of other senders are not scanned, and no page can end at one.
    static let toRecipient = """
        SELECT \(NotificationRecord.columns) FROM notifications WHERE sender = ? AND recipient = ? AND id < ?
        ORDER BY id DESC LIMIT ?
        """
}
