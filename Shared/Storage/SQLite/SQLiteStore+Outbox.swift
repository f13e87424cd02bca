import Domain
import Foundations

extension SQLiteStore {
    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry] {
        try await commit(weight: max(limit, 0)) { db in
            try db.lease("due_at", limit: limit, due: now, now: now, until: until).entries
        }
    }

    func leasePublished(
        limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) async throws -> PublishedLease {
        try await commit(weight: max(limit, 0)) { db in
            try db.lease("republish_at", limit: limit, due: due, now: now, until: until)
        }
    }

    /// Usually the dispatcher was faster: then the row is gone and nothing is written.
    func confirm(_ ids: [NotificationID], until: Timestamp) async throws {
        _ = try await commit(each: ids) { db, id in try db.run(OutboxEntry.confirm(id, until: until)) }
    }
}

extension OutboxEntry {
    static func confirm(_ id: NotificationID, until: Timestamp) -> SQL {
        """
        UPDATE outbox SET due_at = \(.never), republish_at = \(until)
        WHERE notification_id = \(id) AND republish_at IS NULL
        """
    }
}

/// An entry of the outbox that is due, with what tells how far its notification is.
private struct DueEntry {
    let entry: OutboxEntry
    let due: Timestamp?
    /// `nil` for an entry without its notification.
    let status: Int?
    let claimedAt: Timestamp?
    let attempt: Int?
    let recordedAttempt: Int?
    let createdAt: Timestamp?

    init(_ row: inout SQLRow) throws {
        entry = OutboxEntry(id: try row(), traceparent: try row())
        let due: Int64 = try row()
        self.due = due == .max ? nil : Timestamp(milliseconds: due)
        (status, claimedAt, attempt) = (try row(), try row(), try row())
        (recordedAttempt, createdAt) = (try row(), try row())
    }

    /// Whether the first attempt is open and its entry is due as it was stored, or has been published.
    func needsNotice(isPublished: Bool) -> Bool {
        guard claimedAt == nil, recordedAttempt == nil, attempt == 1 else { return false }
        return isPublished || createdAt.map { $0 + OutboxPolicy.grace } == due
    }
}

extension SQLiteTransaction {
    /// Leases due outbox entries. The transaction holds the writer's lock, so no other process leases the same ones.
    ///
    /// - Parameter column: `due_at` for unpublished entries, `republish_at` for published ones.
    func lease(
        _ column: String, limit: Int, due: Timestamp, now: Timestamp, until: Timestamp
    ) throws -> PublishedLease {
        let isPublished = column == "republish_at"
        let found = try all(
            """
            SELECT o.notification_id, o.traceparent, o.due_at, n.status, n.claimed_at, n.attempt, n.recorded_attempt,
                n.created_at
            FROM outbox AS o LEFT JOIN notifications AS n ON n.id = o.notification_id
            WHERE o.\(raw: column) <= \(due) ORDER BY o.\(raw: column), o.notification_id LIMIT \(max(limit, 0))
            """
        ) { row in try DueEntry(&row) }
        var lease = PublishedLease(examined: found.count)
        for found in found {
            let id = found.entry.id
            guard let status = found.status, status <= DispatchStatus.queued.rawValue else {
                try abandon(id)
                continue
            }
            if let end = OutboxPolicy.end(ofClaimAt: found.claimedAt, now: now) {
                try publish(id, until: end)
            } else if found.needsNotice(isPublished: isPublished) {
                try postpone(id, until: now + OutboxPolicy.notice)
            } else {
                if isPublished { try publish(id, until: until) } else { try postpone(id, until: until) }
                lease.entries.append(found.entry)
            }
        }
        return lease
    }

    private func publish(_ id: NotificationID, until: Timestamp) throws {
        try run("UPDATE outbox SET due_at = \(.never), republish_at = \(until) WHERE notification_id = \(id)")
    }

    private func postpone(_ id: NotificationID, until: Timestamp) throws {
        try run("UPDATE outbox SET due_at = \(until), republish_at = NULL WHERE notification_id = \(id)")
    }

    /// Removes an entry.
    func abandon(_ id: NotificationID) throws { try run("DELETE FROM outbox WHERE notification_id = \(id)") }
}
