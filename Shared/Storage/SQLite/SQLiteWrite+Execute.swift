import Foundation
import GRDB
import SecurePushCore

extension SQLiteWrite {
    /// Makes the change within a transaction. Statements are prepared once a connection.
    func execute(_ db: Database) throws -> Output {
        switch self {
        case .append(let sealed):
            try SQLiteWrite.append(sealed, db)
        case .markRead(let id, let time):
            try db.cachedStatement(sql: "UPDATE notifications SET read_at = ? WHERE id = ? AND read_at IS NULL")
                .execute(arguments: [time.milliseconds, id.data])
        case .claim(let id):
            return .claimed(try SQLiteClaim.make(id, db))
        case .record(let outcome):
            try SQLiteWrite.record(outcome, db)
        case .reopen(let change):
            return .reopened(try change.execute(db))
        case .lease(let limit, let now, let until):
            return .leased(try SQLiteWrite.lease(limit: limit, now: now, until: until, db))
        case .remove(let id):
            try db.cachedStatement(sql: "DELETE FROM outbox WHERE notification_id = ?").execute(arguments: [id.data])
        case .save(let registration):
            try SQLiteWrite.save(registration, db)
        case .removeRegistration(let id):
            try db.cachedStatement(sql: "DELETE FROM registrations WHERE id = ?").execute(arguments: [id])
        case .saveInstallation(let installation):
            try SQLiteWrite.save(installation, db)
        case .removeInstallation(let id):
            try db.cachedStatement(sql: "DELETE FROM installations WHERE id = ?").execute(arguments: [id])
        case .appendOnce(let notifications, let request, let now):
            return .earlier(try SQLiteWrite.append(notifications, once: request, now: now, db))
        case .revoke(let id, let sender, let now):
            return .revoked(try SQLiteWrite.revoke(id, sender: sender, now: now, db))
        case .purge(let purge):
            return .purged(try purge.execute(db))
        }
        return .done
    }

    private static func record(_ outcome: DispatchOutcome, _ db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "UPDATE notifications SET status = ?, deliveries = ? WHERE id = ? AND attempt = ?")
        try statement.execute(arguments: [
            outcome.status.rawValue, DeliveriesCoding.encode(outcome.deliveries), outcome.id.data, outcome.attempt,
        ])
    }

    /// A notification that is there already stays as it is, and gets no second entry in the outbox.
    static func append(_ sealed: SealedNotification, _ db: Database) throws {
        let new = sealed.notification
        let id = new.id.data
        try db.cachedStatement(sql: insertNotification).execute(arguments: [
            id, new.sender, new.recipient.text, new.createdAt.milliseconds, new.expiresAt.milliseconds,
            new.notBefore?.milliseconds, new.presentation == .alert ? 1 : 0, new.alert?.title, new.alert?.body,
            new.platforms.map(Platform.list), new.collapseKey, new.priority?.rawValue,
            new.traceparent, new.boundsPush,
        ])
        guard db.changesCount > 0 else { return }
        try db.cachedStatement(sql: insertPayload).execute(arguments: [
            id, sealed.payload.keyID, Data(sealed.payload.bytes), new.expiresAt.milliseconds,
        ])
        try db.cachedStatement(sql: "INSERT INTO outbox (notification_id, due_at, traceparent) VALUES (?, ?, ?)")
            .execute(arguments: [id, OutboxPolicy.due(of: new).milliseconds, new.traceparent])
    }

    private static let insertNotification = """
        INSERT INTO notifications (
            id, sender, recipient, created_at, expires_at, not_before, presentation, alert_title, alert_body, platforms,
            collapse_key, priority, traceparent, bounds_push
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
        """

    private static let insertPayload =
        "INSERT INTO payloads (notification_id, key_id, sealed, purge_at) VALUES (?, ?, ?, ?)"

    /// The transaction holds the writer's lock, so no other leases the same entries.
    private static func lease(limit: Int, now: Timestamp, until: Timestamp, _ db: Database) throws -> [OutboxEntry] {
        let due = try db.cachedStatement(
            sql: """
                SELECT notification_id, traceparent FROM outbox WHERE due_at <= ?
                ORDER BY due_at, notification_id LIMIT ?
                """)
        let entries = try Row.fetchAll(due, arguments: [now.milliseconds, max(limit, 0)]).map { row in
            OutboxEntry(id: try row.notificationID(0), traceparent: row[1])
        }
        let postpone = try db.cachedStatement(sql: "UPDATE outbox SET due_at = ? WHERE notification_id = ?")
        for entry in entries { try postpone.execute(arguments: [until.milliseconds, entry.id.data]) }
        return entries
    }
}
