import Foundation
import GRDB
import SecurePushCore

extension SQLiteWrite {
    /// The writer's lock is held from the look for the key to the commit, so no other process comes between.
    static func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp, _ db: Database
    ) throws -> IdempotentRequest? {
        if let earlier = try IdempotentRequest.fetch(request.key, now: now, db) {
            // The very same request is its caller's second try, whose first one's outcome it did not hear.
            return earlier == request ? nil : earlier
        }
        try db.cachedStatement(sql: saveKey).execute(arguments: [
            request.key.sender, request.key.value, request.key.line, Data(request.fingerprint),
            request.answer.location, Data(request.answer.body), request.expiresAt.milliseconds,
        ])
        for notification in notifications { try append(notification, db) }
        return nil
    }

    /// An expired key may still be there.
    static let saveKey = """
        INSERT INTO idempotency_keys (sender, value, line, fingerprint, location, body, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (sender, value, line) DO UPDATE SET fingerprint = excluded.fingerprint,
            location = excluded.location, body = excluded.body, expires_at = excluded.expires_at
        """

    /// Returns whether the sender has such a notification.
    static func revoke(_ id: NotificationID, sender: String, now: Timestamp, _ db: Database) throws -> Bool {
        let note = try db.cachedStatement(sql: noteRevocation)
        guard let row = try Row.fetchOne(note, arguments: [now.milliseconds, id.data, sender]) else { return false }
        let expiresAt: Int64 = row[0]
        let removeAt = Timestamp(milliseconds: expiresAt) + RetentionPolicy.tombstone
        try db.cachedStatement(sql: destroyPayload).execute(arguments: [removeAt.milliseconds, id.data])
        try db.cachedStatement(sql: "DELETE FROM outbox WHERE notification_id = ?").execute(arguments: [id.data])
        return true
    }

    static let noteRevocation = """
        UPDATE notifications SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? AND sender = ? RETURNING expires_at
        """

    static let destroyPayload = """
        UPDATE payloads SET key_id = '', sealed = x'', purge_at = ? WHERE notification_id = ? AND key_id <> ''
        """
}

extension IdempotentRequest {
    /// The request that has this key and has not expired.
    static func fetch(_ key: Key, now: Timestamp, _ db: Database) throws -> IdempotentRequest? {
        let statement = try db.cachedStatement(sql: find)
        let arguments: StatementArguments = [key.sender, key.value, key.line, now.milliseconds]
        guard let row = try Row.fetchOne(statement, arguments: arguments) else { return nil }
        return IdempotentRequest(
            key: key, fingerprint: try row.bytes(0, column: "fingerprint"),
            answer: Answer(location: row[1], body: try row.bytes(2, column: "body")),
            expiresAt: row.timestamp(3) ?? now)
    }

    static let find = """
        SELECT fingerprint, location, body, expires_at FROM idempotency_keys
        WHERE sender = ? AND value = ? AND line = ? AND expires_at > ?
        """
}
