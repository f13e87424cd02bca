import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    /// Splits a batch into short transactions, so that this process's other work and other processes can run between
    /// them; see ``SQLitePurge``.
    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        try checkRunning()
        let limit = max(limit, 0)
        var report = PurgeReport()
        report.payloads = try await purge(.payloads, limit: limit, now: now, &report.refusal)
        report.notifications = try await purge(.notifications, limit: limit, now: now, &report.refusal)
        report.keys = try await purge(.keys, limit: limit, now: now, &report.refusal)
        // The last batch of a round also clears the log, which still holds payloads that were destroyed or revoked.
        if report.largest < limit { await database.clearLog() }
        return report
    }

    /// The maximum number of rows in one transaction: a few milliseconds.
    private static var maxStep: Int { 100 }

    /// The pause between two of them. Other processes try to get the writer's lock every millisecond; without a pause
    /// this process would take it again within microseconds.
    private static var pause: Duration { .milliseconds(3) }

    private func purge(
        _ kind: SQLitePurge.Kind, limit: Int, now: Timestamp, _ refusal: inout StorageError?
    ) async throws -> Int {
        let steps = PurgeSteps(maxStep: SQLiteStore.maxStep) { limit, skip in
            let step = SQLitePurge(kind: kind, limit: limit, skip: skip, now: now)
            guard case .purged(let outcome)? = try await self.submit([.purge(step)]).first else { return (0, false) }
            // If cancelled, it returns the count so far.
            guard outcome.isFull, (try? await Task.sleep(for: SQLiteStore.pause)) != nil else {
                return (outcome.count, false)
            }
            return (outcome.count, true)
        }
        let result = try await steps(limit: limit)
        refusal = result.refusal ?? refusal
        return result.count
    }
}

/// One step of purging: a short transaction.
struct SQLitePurge: Sendable {
    enum Kind: Sendable {
        /// Destroys the ciphertext of expired notifications.
        case payloads
        /// Removes the rows of notifications whose ``RetentionPolicy/tombstone`` has passed.
        case notifications
        /// Removes expired idempotency keys.
        case keys
    }

    struct Outcome: Sendable {
        var count = 0
        /// Whether it reached a limit, so that there may be more.
        var isFull = false
    }

    var kind: Kind
    /// The maximum number of rows.
    var limit: Int
    /// How many due rows it leaves out; see ``PurgeSteps``.
    var skip = 0
    var now: Timestamp

    /// Destroyed ciphertext is overwritten page by page (`secure_delete`), so the bytes are bounded too.
    private static var maxBytes: Int { 4 * 1024 * 1024 }

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
        for row in try Row.fetchAll(due, arguments: [now.milliseconds, limit, skip]) {
            let (number, size): (Int64, Int) = (row[0], row[1])
            if outcome.count > 0, bytes + size > Self.maxBytes {
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
        let removePushes = try db.cachedStatement(sql: Self.removePushes)
        let oldest = (now - RetentionPolicy.tombstone).milliseconds
        let ids = try Data.fetchAll(due, arguments: [now.milliseconds, limit, skip])
        for id in ids {
            try removePushes.execute(arguments: [id, oldest])
            for removal in removals { try removal.execute(arguments: [id]) }
        }
        return Outcome(count: ids.count, isFull: ids.count == limit)
    }

    private func removeKeys(_ db: Database) throws -> Outcome {
        try db.cachedStatement(sql: Self.removeKeys).execute(arguments: [now.milliseconds, limit, skip])
        return Outcome(count: db.changesCount, isFull: db.changesCount == limit)
    }

    /// SQLite stores the length of a blob at the start of its row, so no ciphertext is read.
    static let expiring = """
        SELECT rowid, length(sealed) FROM payloads WHERE purge_at <= ? AND sealed IS NOT NULL
        ORDER BY purge_at LIMIT ? OFFSET ?
        """

    static let destroy = "UPDATE payloads SET sealed = NULL, purge_at = purge_at + ? WHERE rowid = ?"

    static let removable = """
        SELECT notification_id FROM payloads WHERE purge_at <= ? AND sealed IS NULL
        ORDER BY purge_at LIMIT ? OFFSET ?
        """

    /// The last notification of a recipient goes with the state of the recipient's silent pushes, which is as old.
    static let removePushes = """
        DELETE FROM silent_pushes
        WHERE recipient = (SELECT recipient FROM notifications WHERE id = ?) AND pushed_at <= ?
        """

    static let removals = [
        "DELETE FROM payloads WHERE notification_id = ?", "DELETE FROM outbox WHERE notification_id = ?",
        "DELETE FROM follow_ups WHERE notification_id = ?", "DELETE FROM notifications WHERE id = ?",
    ]

    static let removeKeys = """
        DELETE FROM idempotency_keys WHERE (sender, value, line) IN (
            SELECT sender, value, line FROM idempotency_keys WHERE expires_at <= ?
            ORDER BY expires_at LIMIT ? OFFSET ?
        )
        """
}

extension SQLiteStore {
    func payloads(sealedWith keyID: String, limit: Int, now: Timestamp) async throws -> Int {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(
                sql: """
                    SELECT count(*) FROM (
                        SELECT 1 FROM payloads
                        WHERE key_id = ? AND sealed IS NOT NULL AND (purge_at IS NULL OR purge_at > ?) LIMIT ?
                    )
                    """)
            return try Int.fetchOne(statement, arguments: [keyID, now.milliseconds, max(limit, 0)]) ?? 0
        }
    }
}
