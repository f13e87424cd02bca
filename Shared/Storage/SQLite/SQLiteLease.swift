import Foundation
import GRDB
import SecurePushCore

/// A look at the outbox's entries that are due. The transaction holds the writer's lock, so no other leases the same.
struct SQLiteLease: Sendable {
    var isPublished: Bool
    var limit: Int
    var due: Timestamp
    var now: Timestamp
    var until: Timestamp

    func execute(_ db: Database) throws -> PublishedLease {
        let sql = isPublished ? Self.published : Self.unpublished
        let rows = try Row.fetchAll(
            db.cachedStatement(sql: sql), arguments: [due.milliseconds, max(limit, 0)])
        var lease = PublishedLease(examined: rows.count)
        for row in rows {
            let entry = OutboxEntry(id: try row.notificationID(0), traceparent: row[1])
            let status: Int? = row[2]
            guard let status, status <= DispatchStatus.queued.rawValue else {
                try db.cachedStatement(sql: "DELETE FROM outbox WHERE notification_id = ?")
                    .execute(arguments: [entry.id.data])
                continue
            }
            if let end = OutboxPolicy.end(ofClaimAt: row.timestamp(3), now: now) {
                try publish(entry.id, until: end, db)
            } else if isPublished {
                try publish(entry.id, until: until, db)
                lease.entries.append(entry)
            } else {
                try db.cachedStatement(sql: "UPDATE outbox SET due_at = ? WHERE notification_id = ?")
                    .execute(arguments: [until.milliseconds, entry.id.data])
                lease.entries.append(entry)
            }
        }
        return lease
    }

    private func publish(_ id: NotificationID, until: Timestamp, _ db: Database) throws {
        try db.cachedStatement(sql: Self.publish).execute(arguments: [until.milliseconds, id.data])
    }

    static let publish =
        "UPDATE outbox SET due_at = \(SQLiteSchema.never), republish_at = ? WHERE notification_id = ?"

    static let unpublished = select(by: "due_at")
    static let published = select(by: "republish_at")

    /// The notification is absent where an earlier version's purge left the entry.
    private static func select(by due: String) -> String {
        """
        SELECT outbox.notification_id, outbox.traceparent, notifications.status, notifications.claimed_at
        FROM outbox LEFT JOIN notifications ON notifications.id = outbox.notification_id
        WHERE outbox.\(due) <= ? ORDER BY outbox.\(due), outbox.notification_id LIMIT ?
        """
    }
}
