import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    func find(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: StoredNotification] {
        try checkRunning()
        let found = try await finds.submit(ids.map { SQLiteFind(id: $0, recipient: recipient) })
        return Dictionary(found.compactMap { $0.map { ($0.id, $0) } }) { first, _ in first }
    }

    func payloadBytes(of ids: [NotificationID], recipient: UserName) async throws -> Int {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: ReadingState.payloadBytes)
            return try ids.reduce(0) { sum, id in
                sum + (try Int.fetchOne(statement, arguments: [id.data, recipient.text]) ?? 0)
            }
        }
    }

    func states(_ ids: [NotificationID], recipient: UserName) async throws -> [NotificationID: ReadingState] {
        try checkRunning()
        return try await database.read { db in
            var states: [NotificationID: ReadingState] = [:]
            for id in ids { states[id] = try ReadingState.fetch(id, recipient: recipient, db) }
            return states
        }
    }

    func markShown(_ id: NotificationID, at time: Timestamp) async throws {
        _ = try await submit([.markShown(id, time)])
    }

    func unreadCount(of recipient: UserName, now: Timestamp) async throws -> Int {
        try checkRunning()
        return try await database.read { db in try InboxPage.unread(of: recipient, now: now, db) }
    }
}

extension ReadingState {
    /// SQLite knows the length of a value without reading it.
    static let payloadBytes = """
        SELECT length(sealed) FROM notifications JOIN payloads ON notification_id = id WHERE id = ? AND recipient = ?
        """

    static let find = """
        SELECT expires_at, not_before, revoked_at IS NOT NULL, read_at IS NOT NULL FROM notifications
        WHERE id = ? AND recipient = ?
        """

    /// The state of a notification of this recipient; see ``SQLiteFind``.
    fileprivate static func fetch(
        _ id: NotificationID, recipient: UserName, _ db: Database
    ) throws -> ReadingState? {
        let statement = try db.cachedStatement(sql: find)
        guard let row = try Row.fetchOne(statement, arguments: [id.data, recipient.text]) else { return nil }
        guard let expiresAt = row.timestamp(0) else { throw Row.unreadable("expires_at") }
        return ReadingState(
            expiresAt: expiresAt, notBefore: row.timestamp(1),
            isRevoked: try row.value(2, column: "revoked_at"), isRead: try row.value(3, column: "read_at"))
    }
}

extension InboxPage {
    /// The number of a user's unread notifications.
    static func unread(of recipient: UserName, now: Timestamp, _ db: Database) throws -> Int {
        let (count, time) = (try db.cachedStatement(sql: unreadCount), now.milliseconds)
        return try Int.fetchOne(count, arguments: [recipient.text, time, time]) ?? 0
    }
}
