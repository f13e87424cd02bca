import Foundation
import GRDB
import SecurePushCore

/// One reading of a notification by its recipient, of those that share a read transaction.
struct SQLiteFind: Sendable {
    var id: NotificationID
    var recipient: UserName

    /// Ownership is part of the query: not there and not yours are one.
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
        if let keyID: String = row[5], keyID != SQLiteSchema.destroyed, let sealed: Data = row[6] {
            payload = SealedPayload(keyID: keyID, bytes: [UInt8](sealed))
        } else {
            payload = nil
        }
        return StoredNotification(
            id: id, createdAt: createdAt, expiresAt: expiresAt, notBefore: row.timestamp(7), readAt: row.timestamp(2),
            isRevoked: row.timestamp(3) != nil, payload: payload, traceparent: row[4])
    }
}
