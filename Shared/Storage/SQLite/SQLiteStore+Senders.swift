import GRDB
import SecurePushCore

extension SQLiteStore: IdempotentWriter {
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

extension SQLiteStore: SenderNotifications {
    func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: SQLitePage.record)
            guard let row = try Row.fetchOne(statement, arguments: [id.data, sender]) else { return nil }
            return try NotificationRecord(row).withDeliveries(row)
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
