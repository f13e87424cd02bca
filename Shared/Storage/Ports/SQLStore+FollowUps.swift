import Domain
import Foundations

extension SQLStore {
    /// Notifications are looked up without a lock: a claim checks them again.
    func leaseFollowUps(limit: Int, now: Timestamp) async throws -> [OutboxEntry] {
        let limit = max(limit, 0)
        return try await write(weight: limit) { db in
            let due = try db.all(
                """
                SELECT \(raw: FollowUpRow.columns), n.traceparent, \(raw: FollowUpTimes.columns)
                FROM follow_ups AS f LEFT JOIN notifications AS n ON n.id = f.notification_id
                WHERE f.due_at <= \(now) AND f.due_at < \(.never) ORDER BY f.due_at LIMIT \(limit)
                \(SQLWord(postgres: "FOR UPDATE OF f SKIP LOCKED", sqlite: ""))
                """
            ) { row in
                (row: try FollowUpRow(&row), traceparent: try row() as String?, times: try FollowUpTimes(&row))
            }
            var entries: [OutboxEntry] = []
            var changes: [SQL] = []
            for (var row, traceparent, times) in due.sorted(by: { ($0.row.due, $0.row.id) < ($1.row.due, $1.row.id) }) {
                guard let times else {
                    changes.append("DELETE FROM follow_ups WHERE \(row.key)")
                    continue
                }
                if row.followUp?.kind == .reminder, times.areOver(at: now) {
                    row.due = FollowUpRow.never
                } else {
                    row.publish(now: now)
                    // A row of a kind that only a later version knows does not hold up the others.
                    if let kind = row.followUp?.kind {
                        entries.append(OutboxEntry(id: row.id, traceparent: traceparent, kind: kind))
                    }
                }
                changes.append(row.update)
            }
            try db.run(each: changes)
            return entries
        }
    }

    /// Locks the notifications before the follow-ups, as all transactions do. Without that lock it could see a
    /// notification as it was before another transaction recorded a push, and withdraw nothing from the platforms of
    /// that push.
    func claimFollowUps(_ followUps: [FollowUp], now: Timestamp) async throws -> FollowUpClaims {
        let asked = Set(followUps)
        if asked.isEmpty { return FollowUpClaims() }
        return try await write(weight: asked.count, bytes: asked.count * 512) { db in
            let notifications = try db.notifications(of: asked)
            var claims = FollowUpClaims()
            var changes: [SQL] = []
            for (followUp, var row) in try db.followUps(asked) {
                guard let notification = notifications[followUp.id],
                    row.claim(followUp.kind, notification, now: now)
                else { continue }
                changes.append(row.update)
                // As for notifications, a row that cannot be read does not prevent the others.
                do {
                    claims.plans[followUp] = try notification.plan.get().following(
                        followUp, attempt: Int(row.attempt), step: row.step,
                        deliveries: try row.deliveries.map(StorageCoding.decodeDeliveries) ?? [],
                        isRead: notification.times.isRead, revokedAt: try notification.times.revocation())
                } catch {
                    claims.unreadable[followUp] = StorageError.unreadableRow(error)
                }
            }
            try db.run(each: changes)
            return claims
        }
    }

    func recordFollowUps(_ outcomes: [FollowUpOutcome]) async throws {
        if outcomes.isEmpty { return }
        let bytes = outcomes.reduce(0) { $0 + 256 + $1.deliveries.count * 256 }
        try await write(weight: outcomes.count, bytes: bytes) { db in
            var rows = try db.followUps(Set(outcomes.map(\.followUp)))
            var recorded: Set<FollowUp> = []
            for outcome in outcomes where rows[outcome.followUp]?.record(outcome) == true {
                recorded.insert(outcome.followUp)
            }
            try db.run(each: recorded.compactMap { rows[$0]?.update })
        }
    }

    func abandonFollowUps(_ followUps: [FollowUp]) async throws {
        if followUps.isEmpty { return }
        try await write(weight: followUps.count) { db in
            try db.run(
                each: db.followUps(Set(followUps)).values.map { row in
                    "UPDATE follow_ups SET due_at = \(.never) WHERE \(row.key)"
                })
        }
    }
}

extension SQLTransaction {
    /// The notifications of follow-ups, locked in the order of their IDs, so that two processes never wait for each
    /// other's locks.
    fileprivate func notifications(of followUps: Set<FollowUp>) throws -> [NotificationID: FollowedNotification] {
        let found = try all(
            """
            SELECT \(raw: FollowedNotification.columns) FROM notifications AS n
            WHERE n.id \(in: Set(followUps.map(\.id))) ORDER BY n.id \(.forUpdate)
            """
        ) { row in try FollowedNotification(&row) }
        return Dictionary(found.compactMap { $0.map { ($0.id, $0) } }) { $1 }
    }

    /// The rows of follow-ups, locked in the same way. Those of the other kind are locked with them.
    fileprivate func followUps(_ asked: Set<FollowUp>) throws -> [FollowUp: FollowUpRow] {
        let found = try all(
            """
            SELECT \(raw: FollowUpRow.columns) FROM follow_ups AS f
            WHERE f.notification_id \(in: Set(asked.map(\.id))) ORDER BY f.notification_id, f.kind \(.forUpdate)
            """
        ) { row in try FollowUpRow(&row) }
        let rows = found.compactMap { row in row.followUp.map { ($0, row) } }
        return Dictionary(rows.filter { asked.contains($0.0) }) { $1 }
    }
}

extension SQLWord {
    /// The `due_at` of a follow-up that is done or published.
    static let never = SQLWord(postgres: "\(Int64.max)", sqlite: "\(Int64.max)")
}
