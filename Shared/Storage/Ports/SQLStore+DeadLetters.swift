import Domain
import Foundations

extension SQLStore {
    func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord] {
        // A row that cannot be read does not prevent the others.
        let records = try await all(
            "SELECT \(raw: NotificationRecord.columns) FROM notifications WHERE id \(in: Set(ids))"
        ) { row in try? NotificationRecord(&row) }
        return Dictionary(records.compactMap { $0.map { ($0.id, $0) } }) { $1 }
    }

    func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp, publishedBy publisher: Republishing
    ) async throws -> [NotificationID: ReplayDecision] {
        try await reopen("id \(in: letters.keys)", now: now, publishedBy: publisher) {
            $0.reopening(letters[$0.id] ?? [], now: now)
        }
    }

    func resend(
        _ id: NotificationID, sender: String, now: Timestamp, publishedBy publisher: Republishing
    ) async throws -> ReplayDecision? {
        try await reopen("id = \(id) AND sender = \(sender)", now: now, publishedBy: publisher) {
            $0.resending(now: now)
        }[id]
    }

    /// Locks the records, decides, and writes: a dispatcher may be working on them. The new attempt is not a claim, so
    /// it counts as recorded.
    private func reopen(
        _ condition: SQL, now: Timestamp, publishedBy publisher: Republishing,
        deciding decide: @escaping @Sendable (NotificationRecord) -> (result: ReplayDecision, deliveries: [Delivery])
    ) async throws -> [NotificationID: ReplayDecision] {
        try await write { db in
            let rows = try db.all(
                """
                SELECT id, attempt, \(raw: NotificationRecord.columns) FROM notifications WHERE \(condition)
                ORDER BY id \(.forUpdate)
                """
            ) { row in
                (
                    id: try row() as NotificationID, attempt: try row() as Int,
                    record: Result { try NotificationRecord(&row) }
                )
            }
            var results: [NotificationID: ReplayDecision] = [:]
            var changes: [SQL] = []
            for row in rows {
                guard case .success(let record) = row.record else {
                    results[row.id] = .unreadable
                    continue
                }
                let (result, deliveries) = decide(record)
                results[row.id] = result
                guard case .owed = result else { continue }
                changes.append(reopening(row.id, attempt: row.attempt, deliveries, publishedBy: publisher))
                changes.append(entry(for: row.id, publishedBy: publisher, now: now))
            }
            try db.run(each: changes)
            return results
        }
    }
}

/// The relay's sweep waits for the end of a claim (``NotificationWriter/lease(limit:now:until:)``). It need not wait
/// for one whose outcome cannot be recorded any more.
private func reopening(
    _ id: NotificationID, attempt: Int, _ deliveries: [Delivery], publishedBy publisher: Republishing
) -> SQL {
    """
    UPDATE notifications SET deliveries = \(StorageCoding.encode(deliveries)), status = 1,
        attempt = \(min(attempt, Int(Int32.max) - 1) + 1),
        recorded_attempt = coalesce(recorded_attempt, 0) + 1
        \(raw: publisher == .caller ? "" : ", claimed_at = NULL")
    WHERE id = \(id)
    """
}

private func entry(for id: NotificationID, publishedBy publisher: Republishing, now: Timestamp) -> SQL {
    switch publisher {
    case .caller:
        """
        INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
        SELECT id, \(.never), \(now + OutboxPolicy.redelivery), traceparent FROM notifications WHERE id = \(id)
        ON CONFLICT (notification_id) DO UPDATE SET due_at = excluded.due_at, republish_at = excluded.republish_at
        """
    case .relay(let traceparent):
        """
        INSERT INTO outbox (notification_id, due_at, traceparent)
        SELECT id, \(now), coalesce(\(traceparent), traceparent) FROM notifications WHERE id = \(id)
        ON CONFLICT (notification_id) DO UPDATE
            SET due_at = excluded.due_at, republish_at = NULL, traceparent = excluded.traceparent
        """
    }
}
