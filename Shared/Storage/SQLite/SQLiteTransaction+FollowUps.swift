import Domain
import Foundations

extension SQLiteTransaction {
    /// Makes the follow-ups of a recorded outcome: a withdrawal if the notification was revoked, or read, while it was
    /// being pushed; the first reminder, or another time for the next one.
    func follow(_ outcome: DispatchOutcome, _ withdrawals: WithdrawalMode) throws {
        guard outcome.pushedAt != nil || (withdrawals != .off && outcome.acceptedAt != nil) else { return }
        let notification = try first(
            "SELECT revoked_at IS NOT NULL, read_at IS NOT NULL, remind FROM notifications WHERE id = \(outcome.id)"
        ) { row in (isRevoked: try row() as Bool, isRead: try row() as Bool, remind: try row() as String?) }
        guard let (isRevoked, isRead, reminders) = notification else { return }
        if let time = outcome.acceptedAt, withdrawals.applies(isRevoked: isRevoked, isRead: isRead) {
            try run(FollowUpRow.withdrawal(of: outcome.id, now: time))
        }
        // A row that cannot be read must not roll back the outcomes of others.
        guard let pushedAt = outcome.pushedAt, !isRevoked, !isRead,
            let delays = reminders.flatMap({ try? StorageCoding.decodeRemind($0) })
        else { return }
        try remind(outcome.id, after: delays, push: pushedAt)
    }

    /// Makes the first reminder after a push, or moves the next one. One that is on its way stays.
    private func remind(_ id: NotificationID, after delays: [Duration], push: Timestamp) throws {
        let reminder = FollowUp.Kind.reminder.code
        let present = try first(
            "SELECT due_at, state, step FROM follow_ups WHERE notification_id = \(id) AND kind = \(reminder)"
        ) { row in (due: try row() as Int64, state: try row() as Int, step: try row() as Int) }
        if let present, present.due == FollowUpRow.never || present.state != 0 { return }
        let due = FollowUpPolicy.due(step: (present?.step ?? 0) + 1, of: delays, push: push)
        try run(
            """
            INSERT INTO follow_ups (notification_id, kind, due_at)
            VALUES (\(id), \(reminder), \(due?.milliseconds ?? FollowUpRow.never))
            ON CONFLICT (notification_id, kind) DO UPDATE SET due_at = excluded.due_at
            """)
    }
}
