import Foundation
import GRDB
import SecurePushCore

/// A piece of purging that is one short transaction.
struct SQLitePurge: Sendable {
    enum Kind: Sendable {
        /// Destroys the ciphertext of what has expired.
        case payloads
        /// Removes the rows of what expired a tombstone's time ago.
        case notifications
        /// Removes idempotency keys.
        case keys
    }

    struct Outcome: Sendable {
        var count = 0
        /// Whether it ended by its bounds, so that there may be more.
        var isFull = false
    }

    var kind: Kind
    /// The most rows.
    var limit: Int
    var now: Timestamp

    /// Destroyed ciphertext is overwritten page by page (`secure_delete`), so its amount is bounded too.
    private static var byteLimit: Int { 4 * 1024 * 1024 }

    func execute(_ db: Database) throws -> Outcome {
        switch kind {
        case .payloads: try destroyPayloads(db)
        case .notifications: try removeNotifications(db)
        case .keys: try removeKeys(db)
        }
    }

    private func destroyPayloads(_ db: Database) throws -> Outcome {
        let due = try db.cachedStatement(sql: Self.expiring)
        let destroy = try db.cachedStatement(sql: Self.destroy)
        let tombstone = RetentionPolicy.tombstone.milliseconds
        var outcome = Outcome()
        var bytes = 0
        for row in try Row.fetchAll(due, arguments: [now.milliseconds, limit]) {
            let (number, size): (Int64, Int) = (row[0], row[1])
            if outcome.count > 0, bytes + size > Self.byteLimit {
                outcome.isFull = true
                return outcome
            }
            try destroy.execute(arguments: [tombstone, number])
            bytes += size
            outcome.count += 1
        }
        outcome.isFull = outcome.count == limit
        return outcome
    }

    private func removeNotifications(_ db: Database) throws -> Outcome {
        let due = try db.cachedStatement(sql: Self.removable)
        let removals = try Self.removals.map { try db.cachedStatement(sql: $0) }
        let ids = try Data.fetchAll(due, arguments: [now.milliseconds, limit])
        for id in ids {
            for removal in removals { try removal.execute(arguments: [id]) }
        }
        return Outcome(count: ids.count, isFull: ids.count == limit)
    }

    private func removeKeys(_ db: Database) throws -> Outcome {
        try db.cachedStatement(sql: Self.removeKeys).execute(arguments: [now.milliseconds, limit])
        return Outcome(count: db.changesCount, isFull: db.changesCount == limit)
    }

    /// The length of a blob stands at the front of its row: no ciphertext is read.
    static let expiring = """
        SELECT rowid, length(sealed) FROM payloads WHERE purge_at <= ? AND key_id <> '' ORDER BY purge_at LIMIT ?
        """

    static let destroy = "UPDATE payloads SET key_id = '', sealed = x'', purge_at = purge_at + ? WHERE rowid = ?"

    static let removable = """
        SELECT notification_id FROM payloads WHERE purge_at <= ? AND key_id = '' ORDER BY purge_at LIMIT ?
        """

    static let removals = [
        "DELETE FROM payloads WHERE notification_id = ?", "DELETE FROM outbox WHERE notification_id = ?",
        "DELETE FROM notifications WHERE id = ?",
    ]

    static let removeKeys = """
        DELETE FROM idempotency_keys WHERE (sender, value, line) IN (
            SELECT sender, value, line FROM idempotency_keys WHERE expires_at <= ? ORDER BY expires_at LIMIT ?
        )
        """
}
