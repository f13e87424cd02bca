import Domain
import Foundations

extension SQLStore {
    func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord? {
        try await first(
            """
            SELECT \(raw: NotificationRecord.columnsWithFollowUps), a.text_key, a.text_sealed
            FROM \(raw: NotificationRecord.tables) WHERE id = \(id) AND sender = \(sender)
            """
        ) { row in
            var record = try NotificationRecord(withFollowUps: &row)
            if case .given(var answer) = record.answer {
                answer.text = try SealedPayload(ifPresent: &row)
                record.answer = .given(answer)
            }
            return record
        }
    }

    func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage {
        let page = try await page(NotificationScan(query, now: now))
        return NotificationPage(records: page.entries.map(\.record), next: page.next)
    }

    /// Lock order as in all transactions: the notification, and then what hangs on it.
    func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool {
        try await write { db in
            let revoked = try db.first(
                """
                UPDATE notifications SET revoked_at = coalesce(revoked_at, \(now))
                WHERE id = \(id) AND sender = \(sender) RETURNING expires_at, revoked_at, deliveries
                """
            ) { row in
                (expiresAt: try row() as Int64, revokedAt: try row() as Timestamp, deliveries: try row() as String?)
            }
            guard let revoked else { return false }
            let removal = revoked.expiresAt + RetentionPolicy.tombstone.milliseconds
            var changes: [SQL] = [
                """
                UPDATE payloads SET sealed = NULL, purge_at = \(removal)
                WHERE notification_id = \(id) AND sealed IS NOT NULL
                """,
                "DELETE FROM outbox WHERE notification_id = \(id)",
                """
                UPDATE answers SET is_closed = 1, text_key = NULL, text_sealed = NULL, text_until = NULL
                WHERE notification_id = \(id)
                """,
            ]
            // Only the call that sets the time withdraws, and only accepted pushes.
            if revoked.revokedAt == now, revoked.deliveries?.contains(StorageCoding.sent) == true {
                changes.append(FollowUpRow.withdrawal(of: id, now: now))
            }
            try db.run(each: changes)
            return true
        }
    }
}

extension NotificationScan {
    /// Both columns are in an index, so rows of other senders are not scanned, and no page can end at one. The status
    /// is derived as in ``NotificationRecord/status(at:)``.
    init(_ query: NotificationQuery, now: Timestamp) {
        let (sender, before) = (query.sender, query.before ?? NotificationID(high: .max, low: .max))
        self.init(
            range: query.recipient.map { recipient in
                """
                (sender, recipient) >= (\(sender), \(recipient))
                AND (sender, recipient, id) < (\(sender), \(recipient), \(before))
                """
            } ?? "sender >= \(sender) AND (sender, id) < (\(sender), \(before))",
            order: query.recipient == nil ? "sender DESC, id DESC" : "sender DESC, recipient DESC, id DESC",
            match: query.status.map { status in
                """
                \(status.code) = CASE WHEN revoked_at IS NOT NULL THEN 7 WHEN read_at IS NOT NULL THEN 5
                    WHEN expires_at <= \(now) THEN 6 ELSE status END
                """
            } ?? "true", limit: query.limit)
    }
}

extension NotificationStatus {
    /// The number of the status in SQL.
    fileprivate var code: Int {
        switch self {
        case .read: 5
        case .expired: 6
        case .revoked: 7
        case .accepted, .queued, .dispatched, .partial, .failed: dispatchStatus?.rawValue ?? 0
        }
    }
}
