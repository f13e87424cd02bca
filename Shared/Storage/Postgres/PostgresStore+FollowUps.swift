import Domain
import Foundations
import Postgres

extension PostgresStore {
    /// Appends the further parameters of a statement that records outcomes and makes their follow-ups.
    ///
    /// - Returns: `false` if nothing can follow; then it appends nothing.
    func appendFollowUps(of outcomes: [DispatchOutcome], _ parameters: inout PostgresParameters) -> Bool {
        guard withdrawals != .off || outcomes.contains(where: { $0.pushedAt != nil }) else { return false }
        parameters.append(outcomes) { $0.acceptedAt?.milliseconds }
        parameters.append(outcomes) { $0.pushedAt?.milliseconds }
        parameters.append(withdrawals.code)
        return true
    }
}

extension PostgresStatement {
    private static let withdrawal = FollowUp.Kind.withdrawal.code
    private static let reminder = FollowUp.Kind.reminder.code

    /// Whether the first read withdraws the push from a platform that has accepted it, in SQL. In the text of an error
    /// the quotes are escaped.
    static func isWithdrawnOnRead(_ deliveries: String) -> String {
        "strpos(\(deliveries), '\(StorageCoding.withdrawnOnRead)') > 0"
    }

    /// Also makes withdrawals of notifications that were revoked or read while they were being pushed: their rows were
    /// locked in turn, so one of the two statements sees the other's change. And makes the first reminders, or moves
    /// the next ones after a later push. A withdrawal is made as in ``FollowUpRow/withdrawal(of:now:)``.
    static let recordAndFollow = PostgresStatement(
        recording(and: follow, input: followInput, columns: followColumns))

    /// ``recordAndFollow`` for outcomes that wait for the recipient's next silent push.
    static let recordPostponedAndFollow = PostgresStatement(
        postponing(and: follow, input: followInput, columns: followColumns))

    private static let followInput = ", unnest($6::bigint[]) AS accepted_at, unnest($7::bigint[]) AS pushed_at"
    // A text of reminders that this program did not write must not fail the outcomes of others.
    private static let followColumns = """
        , outcome.accepted_at, outcome.pushed_at, n.revoked_at, n.read_at,
            CASE WHEN n.remind ~ '^[0-9]{1,18}(,[0-9]{1,18})*$' THEN string_to_array(n.remind, ',')::bigint[] END
                AS remind
        """
    private static let follow = """
        , pushed AS (
            SELECT id, accepted_at AS since FROM recorded
            WHERE accepted_at IS NOT NULL AND ($8 >= \(WithdrawalMode.revoked.code) AND revoked_at IS NOT NULL
                OR $8 >= \(WithdrawalMode.read.code) AND read_at IS NOT NULL)
        ), withdrawn AS (
            INSERT INTO follow_ups AS present (notification_id, kind, due_at, attempt)
            SELECT id, \(withdrawal), since, 1 FROM pushed
            ON CONFLICT (notification_id, kind) DO UPDATE SET due_at = excluded.due_at, state = 2, published = 0
        ), reminded AS (
            INSERT INTO follow_ups AS present (notification_id, kind, due_at, remind)
            SELECT id, \(reminder), pushed_at + remind[1], remind FROM recorded
            WHERE pushed_at IS NOT NULL AND remind[1] IS NOT NULL AND revoked_at IS NULL AND read_at IS NULL
            ON CONFLICT (notification_id, kind) DO UPDATE SET due_at = coalesce(
                excluded.due_at - present.remind[1] + present.remind[present.step + 1], \(never))
            WHERE present.state = 0 AND present.due_at < \(never)
        )
        """
}

// The numbers that these values are stored as. Stored rows contain them: never change one.

extension FollowUp.Kind {
    var code: Int16 {
        switch self {
        case .withdrawal: 1
        case .reminder: 2
        }
    }

    init?(code: Int16) {
        guard let kind = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = kind
    }
}

extension WithdrawalMode {
    /// In ascending order: each mode includes the withdrawals of the earlier ones.
    var code: Int16 {
        switch self {
        case .off: 0
        case .revoked: 1
        case .read: 2
        }
    }
}
