import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        let lease = SQLiteLease(isPublished: false, limit: limit, due: now, now: now, until: until)
        return try await execute(lease).entries
    }

    func leasePublished(
        limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) async throws -> PublishedLease {
        try await execute(SQLiteLease(isPublished: true, limit: limit, due: due, now: now, until: until))
    }

    private func execute(_ lease: SQLiteLease) async throws -> PublishedLease {
        guard case .leased(let result)? = try await submit([.lease(lease)]).first else { return PublishedLease() }
        return result
    }

    func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        _ = try await submit(ids.map { .confirm($0, until: until) })
    }

    /// Its cost is bounded: the count ends at 100,000, and the oldest entry is searched among the first 10,000 by ID
    /// and, if none of those has fallen due, among the first 10,000 by due time.
    func backlog(now: Timestamp) async throws -> OutboxBacklog {
        try checkRunning()
        return try await database.read { db in
            let count = try Int.fetchOne(db.cachedStatement(sql: OutboxBacklog.bounded)) ?? 0
            for sql in [OutboxBacklog.oldestOfFirst, OutboxBacklog.oldestOfDue] {
                let oldest = try db.cachedStatement(sql: sql)
                let arguments: StatementArguments = [now.milliseconds, now.milliseconds]
                if let time = try Row.fetchOne(oldest, arguments: arguments)?.timestamp(0) {
                    return OutboxBacklog(count: count, oldest: time)
                }
            }
            return OutboxBacklog(count: count, oldest: nil)
        }
    }
}

extension OutboxBacklog {
    static let bounded =
        "SELECT count(*) FROM (SELECT 1 FROM outbox WHERE due_at < \(SQLiteSchema.never) LIMIT 100000)"

    static let oldestOfFirst = oldest("ORDER BY notification_id")
    static let oldestOfDue = oldest("WHERE due_at < \(SQLiteSchema.never) ORDER BY due_at")

    /// A leased entry is due again later; whether it was due once shows in its notification. One that waits for a time
    /// (``DispatchOutcome/dueAgain``) looks published and counts when that time has come.
    private static func oldest(_ first: String) -> String {
        """
        SELECT min(max(n.created_at, coalesce(n.not_before, n.created_at)))
        FROM (SELECT notification_id, due_at, republish_at FROM outbox \(first) LIMIT 10000)
        CROSS JOIN notifications AS n ON n.id = notification_id
        WHERE due_at <= ? OR due_at < \(SQLiteSchema.never) AND republish_at IS NULL
            AND max(coalesce(n.not_before, 0), CASE WHEN n.not_before > n.created_at THEN 0
                ELSE n.created_at + \(OutboxPolicy.grace.milliseconds) END) <= ?
        """
    }
}

/// A lease of due outbox entries. The transaction holds the writer's lock, so no other process leases the same entries.
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
            } else if try needsNotice(row) {
                let due = now + OutboxPolicy.notice
                try db.cachedStatement(sql: Self.postpone).execute(arguments: [due.milliseconds, entry.id.data])
            } else if isPublished {
                try publish(entry.id, until: until, db)
                lease.entries.append(entry)
            } else {
                try db.cachedStatement(sql: Self.postpone).execute(arguments: [until.milliseconds, entry.id.data])
                lease.entries.append(entry)
            }
        }
        return lease
    }

    /// Whether the first attempt is open and its entry is due as it was stored, or has been published.
    private func needsNotice(_ row: Row) throws -> Bool {
        guard row.hasNull(atIndex: 3), row.hasNull(atIndex: 5), try row.value(4, column: "attempt") == 1 else {
            return false
        }
        let (createdAt, due) = (row.timestamp(6), row.timestamp(7))
        return isPublished || createdAt.map { $0 + OutboxPolicy.grace } == due
    }

    private func publish(_ id: NotificationID, until: Timestamp, _ db: Database) throws {
        try db.cachedStatement(sql: Self.publish).execute(arguments: [until.milliseconds, id.data])
    }

    static let publish =
        "UPDATE outbox SET due_at = \(SQLiteSchema.never), republish_at = ? WHERE notification_id = ?"

    static let postpone = "UPDATE outbox SET due_at = ?, republish_at = NULL WHERE notification_id = ?"

    static let unpublished = select(by: "due_at")
    static let published = select(by: "republish_at")

    /// The notification is missing if the purge of an earlier version left the entry.
    private static func select(by due: String) -> String {
        """
        SELECT outbox.notification_id, outbox.traceparent, notifications.status, notifications.claimed_at,
            notifications.attempt, notifications.recorded_attempt, notifications.created_at, outbox.due_at
        FROM outbox LEFT JOIN notifications ON notifications.id = outbox.notification_id
        WHERE outbox.\(due) <= ? ORDER BY outbox.\(due), outbox.notification_id LIMIT ?
        """
    }
}
