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
        case .claim(let id, let now):
            return .claimed(try SQLiteClaim.make(id, now: now, db))
        case .record(let outcome):
            return .recorded(try SQLiteWrite.record(outcome, db))
        case .abandon(let id):
            try db.cachedStatement(sql: "DELETE FROM outbox WHERE notification_id = ?").execute(arguments: [id.data])
        case .reopen(let change, let now):
            return .reopened(try change.execute(now: now, db))
        case .lease(let lease):
            return .leased(try lease.execute(db))
        case .confirm(let id, let until):
            try db.cachedStatement(sql: SQLiteWrite.confirm).execute(arguments: [until.milliseconds, id.data])
        case .device(let change):
            return try change.execute(db)
        case .appendOnce(let notifications, let request, let now):
            return .earlier(try SQLiteWrite.append(notifications, once: request, now: now, db))
        case .revoke(let id, let sender, let now):
            return .revoked(try SQLiteWrite.revoke(id, sender: sender, now: now, db))
        case .purge(let purge):
            return .purged(try purge.execute(db))
        }
        return .done
    }

    /// - Returns: whether its attempt was still the newest.
    private static func record(_ outcome: DispatchOutcome, _ db: Database) throws -> Bool {
        try db.cachedStatement(sql: recordOutcome).execute(arguments: [
            outcome.status.rawValue, DeliveriesCoding.encode(outcome.deliveries), outcome.attempt, outcome.id.data,
            outcome.attempt,
        ])
        guard db.changesCount > 0 else { return false }
        if let due = outcome.republishAt {
            try enter(outcome.id, due: due, db)
        } else if outcome.isFinal {
            try db.cachedStatement(sql: "DELETE FROM outbox WHERE notification_id = ?")
                .execute(arguments: [outcome.id.data])
        }
        return true
    }

    private static let recordOutcome = """
        UPDATE notifications SET status = ?, deliveries = ?, recorded_attempt = ? WHERE id = ? AND attempt = ?
        """

    /// Where the dispatcher was faster, as it mostly is, there is no row any more and nothing is written.
    static let confirm = """
        UPDATE outbox SET due_at = \(SQLiteSchema.never), republish_at = ?
        WHERE notification_id = ? AND republish_at IS NULL
        """

    /// Enters a notification into the outbox as published.
    static func enter(_ id: NotificationID, due: Timestamp, _ db: Database) throws {
        try db.cachedStatement(sql: enterPublished).execute(arguments: [due.milliseconds, id.data])
    }

    static let enterPublished = """
        INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
        SELECT id, \(SQLiteSchema.never), ?, traceparent FROM notifications WHERE id = ?
        ON CONFLICT (notification_id) DO UPDATE SET due_at = excluded.due_at, republish_at = excluded.republish_at
        """

    /// A notification that is there already stays as it is, and gets no second entry in the outbox.
    static func append(_ sealed: SealedNotification, _ db: Database) throws {
        let new = sealed.notification
        let id = new.id.data
        try db.cachedStatement(sql: insertNotification).execute(arguments: [
            id, new.sender, new.recipient.text, new.createdAt.milliseconds, new.expiresAt.milliseconds,
            new.notBefore?.milliseconds, new.presentation == .alert ? 1 : 0, new.alert?.title, new.alert?.body,
            new.platforms.map(Platform.list), new.collapseKey, new.priority?.rawValue,
            new.traceparent, new.expiryBoundsPush,
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
}
