import Postgres
import SecurePushCore

extension PostgresStore {
    func leaseFollowUps(limit: Int, now: Timestamp) async throws -> [OutboxEntry] {
        if limit <= 0 { return [] }
        var parameters = PostgresParameters()
        parameters.append(now.milliseconds)
        parameters.append(Int64(limit))
        let result = try await query(.leaseFollowUps, parameters)
        return try decoding {
            let rows: [(due: Int64, entry: OutboxEntry)] = try result.compactMap { row in
                let id = NotificationID(try row.decode(0, as: PostgresUUID.self))
                // A row of a kind that only a later version knows does not hold up the others.
                guard let kind = FollowUp.Kind(code: try row.decode(2)) else { return nil }
                let entry = OutboxEntry(id: id, traceparent: try row.decodeIfPresent(1), kind: kind)
                return (due: try row.decode(3, as: Int64.self), entry: entry)
            }
            // RETURNING has no order.
            return rows.sorted { ($0.due, $0.entry.id) < ($1.due, $1.entry.id) }.map(\.entry)
        }
    }
}

extension PostgresStore {
    func claimFollowUps(_ followUps: [FollowUp], now: Timestamp) async throws -> FollowUpClaims {
        if followUps.isEmpty { return FollowUpClaims() }
        // In the order of the rows, so that two processes never wait for each other's locks.
        let asked = followUps.sorted { ($0.id, $0.kind.code) < ($1.id, $1.kind.code) }
        var parameters = PostgresParameters(capacity: asked.count * 28 + 64)
        parameters.append(asked) { PostgresUUID($0.id) }
        parameters.append(asked) { $0.kind.code }
        parameters.append(now.milliseconds)
        let result = try await query(.claimFollowUps, parameters)
        return try decoding {
            var claims = FollowUpClaims()
            for row in result {
                let id = NotificationID(try row.decode(0, as: PostgresUUID.self))
                guard let kind = FollowUp.Kind(code: try row.decode(16)) else { throw unreadable("kind") }
                let followUp = FollowUp(id: id, kind: kind)
                // As for notifications, a row that cannot be read does not prevent the others.
                do {
                    claims.plans[followUp] = try DispatchPlan(followUp, row)
                } catch {
                    claims.unreadable[followUp] = StorageError.unreadableRow(error)
                }
            }
            return claims
        }
    }

    func recordFollowUps(_ outcomes: [FollowUpOutcome]) async throws {
        if outcomes.isEmpty { return }
        let outcomes = outcomes.sorted {
            ($0.followUp.id, $0.followUp.kind.code) < ($1.followUp.id, $1.followUp.kind.code)
        }
        var parameters = PostgresParameters(capacity: outcomes.count * 256 + 128)
        parameters.append(outcomes) { PostgresUUID($0.followUp.id) }
        parameters.append(outcomes) { $0.followUp.kind.code }
        parameters.append(outcomes) { Int32(clamping: $0.attempt) }
        parameters.append(outcomes) { StorageCoding.encode($0.deliveries) }
        parameters.append(outcomes) { $0.nextTry?.milliseconds }
        _ = try await query(.recordFollowUps, parameters)
    }

    func abandonFollowUps(_ followUps: [FollowUp]) async throws {
        if followUps.isEmpty { return }
        let followUps = followUps.sorted { ($0.id, $0.kind.code) < ($1.id, $1.kind.code) }
        var parameters = PostgresParameters(capacity: followUps.count * 28 + 64)
        parameters.append(followUps) { PostgresUUID($0.id) }
        parameters.append(followUps) { $0.kind.code }
        _ = try await query(.abandonFollowUps, parameters)
    }

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

    /// Whether a platform has accepted the push, in SQL. In the text of an error the quotes are escaped.
    static func isPushed(_ deliveries: String) -> String { "strpos(\(deliveries), '\(StorageCoding.sent)') > 0" }

    /// Whether the first read withdraws the push from a platform that has accepted it, in SQL.
    static func isWithdrawnOnRead(_ deliveries: String) -> String {
        "strpos(\(deliveries), '\(StorageCoding.withdrawnOnRead)') > 0"
    }

    /// Makes withdrawals of the rows of the CTE `pushed` (id, since). If there is one already, it is due again, and a
    /// claim that does not know of the new push or the revocation does not end it (state 2). It goes only to platforms
    /// that have not had it.
    static let withdrawalsOfPushed = """
        INSERT INTO follow_ups AS present (notification_id, kind, due_at, attempt)
        SELECT id, \(withdrawal), since, 1 FROM pushed
        ON CONFLICT (notification_id, kind) DO UPDATE SET due_at = excluded.due_at, state = 2, published = 0
        """

    /// Also makes withdrawals of notifications that were revoked or read while they were being pushed: their rows were
    /// locked in turn, so one of the two statements sees the other's change. And makes the first reminders, or moves
    /// the next ones after a later push.
    static let recordAndFollow = PostgresStatement(
        recording(and: follow, input: followInput, columns: followColumns))

    /// The same for outcomes that wait for the recipient's next silent push.
    static let recordPostponedAndFollow = PostgresStatement(
        postponing(and: follow, input: followInput, columns: followColumns))

    private static let followInput = ", unnest($6::bigint[]) AS accepted_at, unnest($7::bigint[]) AS pushed_at"
    private static let followColumns = ", outcome.accepted_at, outcome.pushed_at, n.revoked_at, n.read_at, n.remind"
    private static let follow = """
        , pushed AS (
            SELECT id, accepted_at AS since FROM recorded
            WHERE accepted_at IS NOT NULL AND ($8 >= \(WithdrawalMode.revoked.code) AND revoked_at IS NOT NULL
                OR $8 >= \(WithdrawalMode.read.code) AND read_at IS NOT NULL)
        ), withdrawn AS (
            \(withdrawalsOfPushed)
        ), reminded AS (
            INSERT INTO follow_ups AS present (notification_id, kind, due_at, remind)
            SELECT id, \(reminder), pushed_at + remind[1], remind FROM recorded
            WHERE pushed_at IS NOT NULL AND remind[1] IS NOT NULL AND revoked_at IS NULL AND read_at IS NULL
            ON CONFLICT (notification_id, kind) DO UPDATE SET due_at = coalesce(
                excluded.due_at - present.remind[1] + present.remind[present.step + 1], \(never))
            WHERE present.state = 0 AND present.due_at < \(never)
        )
        """

    /// Notifications are looked up without a lock: a claim checks them again.
    fileprivate static let leaseFollowUps = PostgresStatement(
        """
        WITH due AS (
            SELECT notification_id, kind, due_at FROM follow_ups WHERE due_at <= $1 AND due_at < \(never)
            ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED
        ), seen AS (
            SELECT due.notification_id, due.kind, due.due_at, n.traceparent, n.id IS NULL AS is_gone,
                due.kind = \(reminder)
                    AND (n.read_at IS NOT NULL OR n.revoked_at IS NOT NULL OR n.expires_at <= $1) AS is_over
            FROM due LEFT JOIN notifications AS n ON n.id = due.notification_id
        ), gone AS (
            DELETE FROM follow_ups AS f USING seen
            WHERE f.notification_id = seen.notification_id AND f.kind = seen.kind AND seen.is_gone
        ), kept AS (
            UPDATE follow_ups AS f
            SET due_at = CASE WHEN seen.is_over THEN \(never) ELSE
                    $1 + (\(FollowUpPolicy.redelivery.milliseconds)::bigint
                    << least(f.published, \(FollowUpPolicy.maxDoublings))::integer) END,
                published = least(f.published, 100) + 1,
                state = CASE WHEN f.state = 0 AND NOT seen.is_over THEN 1 ELSE f.state END
            FROM seen
            WHERE f.notification_id = seen.notification_id AND f.kind = seen.kind AND NOT seen.is_gone
            RETURNING f.notification_id, seen.traceparent, f.kind, seen.due_at, seen.is_over
        )
        SELECT notification_id, traceparent, kind, due_at FROM kept WHERE NOT is_over
        """)

    /// The columns are those of a claim of notifications, and then those of the follow-up. Uses up the step of a
    /// reminder: state 1 is a new one, state 2 the same once more.
    ///
    /// It locks the notifications before the follow-ups, as all statements do. Without that lock it would see them as
    /// they were when it began, but the follow-ups as they are once it has waited for another transaction
    /// (READ COMMITTED). If that transaction recorded a push, the claim would have the new attempt, and withdraw
    /// nothing from the platforms of that push. They are locked in the order of the arrays. ORDER BY would make
    /// PostgreSQL read the whole index of the table, because sorting is disabled.
    fileprivate static let claimFollowUps = PostgresStatement(
        """
        WITH n AS MATERIALIZED (
            SELECT seen.id, seen.recipient, seen.presentation, seen.alert_title, seen.alert_body, seen.platforms,
                seen.expires_at, seen.collapse_key, seen.priority, seen.traceparent, seen.revoked_at, seen.attempt,
                seen.deliveries, seen.bounds_push, seen.read_at, asked.kind
            FROM (SELECT unnest($1::uuid[]) AS id, unnest($2::smallint[]) AS kind) AS asked
            JOIN notifications AS seen ON seen.id = asked.id
            FOR NO KEY UPDATE OF seen
        )
        UPDATE follow_ups AS f
        SET attempt = least(f.attempt, 2147483646) + 1, published = 0, state = 0,
            step = CASE WHEN f.kind = \(reminder) AND f.state = 1 THEN least(f.step, 32766) + 1 ELSE f.step END,
            deliveries = CASE WHEN f.kind = \(reminder) AND f.state = 1 THEN NULL ELSE f.deliveries END,
            due_at = CASE WHEN f.kind = \(withdrawal)
                THEN greatest(f.due_at, $3 + \(OutboxPolicy.attemptLimit.milliseconds))
                ELSE coalesce($3 + f.remind[f.step + CASE f.state WHEN 1 THEN 2 ELSE 1 END], \(never)) END
        FROM n
        WHERE f.notification_id = n.id AND f.kind = n.kind AND f.due_at < \(never)
            AND (f.kind = \(withdrawal)
                OR f.state > 0 AND n.read_at IS NULL AND n.revoked_at IS NULL AND n.expires_at > $3)
        RETURNING n.id, n.recipient, n.presentation, n.alert_title, n.alert_body, n.platforms, n.expires_at,
            n.collapse_key, n.priority, n.traceparent, n.revoked_at IS NOT NULL, n.attempt, n.deliveries,
            n.bounds_push = 1, 0::bigint, NULL::text, f.kind, f.attempt, f.step, f.deliveries, n.read_at IS NOT NULL,
            n.revoked_at
        """)

    fileprivate static let abandonFollowUps = PostgresStatement(
        """
        UPDATE follow_ups AS f SET due_at = \(never)
        FROM unnest($1::uuid[], $2::smallint[]) AS abandoned (id, kind)
        WHERE f.notification_id = abandoned.id AND f.kind = abandoned.kind
        """)

    /// A reminder is tried again only if its next step does not come first. The claim of a step has removed the
    /// deliveries of the step before, so the first ones with a platform that accepted it count the step as sent.
    fileprivate static let recordFollowUps = PostgresStatement(
        """
        UPDATE follow_ups AS f
        SET deliveries = outcome.deliveries,
            sent = CASE WHEN f.kind = \(reminder) AND \(isPushed("outcome.deliveries"))
                AND (\(isPushed("f.deliveries"))) IS NOT TRUE THEN least(f.sent, 32766) + 1 ELSE f.sent END,
            due_at = CASE WHEN f.kind = \(withdrawal)
                THEN CASE WHEN f.state = 2 THEN f.due_at ELSE coalesce(outcome.next_try, \(never)) END
                WHEN f.state = 0 AND outcome.next_try < f.due_at THEN outcome.next_try ELSE f.due_at END,
            state = CASE WHEN f.kind = \(reminder) AND f.state = 0 AND outcome.next_try < f.due_at
                THEN 2 ELSE f.state END
        FROM unnest($1::uuid[], $2::smallint[], $3::integer[], $4::text[], $5::bigint[])
            AS outcome (id, kind, attempt, deliveries, next_try)
        WHERE f.notification_id = outcome.id AND f.kind = outcome.kind AND f.attempt = outcome.attempt
        """)

    /// The columns of a sender's record for the follow-ups of a notification `n`; see
    /// ``NotificationRecord/init(withFollowUps:)``.
    static func followUpColumns(_ n: String) -> String {
        let find = { (column: String, kind: Int16) in
            "(SELECT f.\(column) FROM follow_ups AS f WHERE f.notification_id = \(n).id AND f.kind = \(kind))"
        }
        return [
            find("deliveries", withdrawal), "\(n).remind IS NOT NULL", find("sent", reminder), find("due_at", reminder),
        ].joined(separator: ", ")
    }
}

extension DispatchPlan {
    /// A row of ``PostgresStatement/claimFollowUps``.
    fileprivate init(_ followUp: FollowUp, _ row: PostgresRow) throws {
        self = try DispatchPlan(followUp.id, row).following(
            followUp, attempt: Int(try row.decode(17, as: Int32.self)), step: Int(try row.decode(18, as: Int16.self)),
            deliveries: try row.decodeIfPresent(19, as: String.self).map(StorageCoding.decodeDeliveries) ?? [],
            isRead: try row.decode(20), revokedAt: try row.timestampIfPresent(21))
    }
}

extension NotificationRecord {
    /// A row of ``PostgresStatement/recordColumns`` and ``PostgresStatement/followUpColumns(_:)``.
    init(withFollowUps row: PostgresRow) throws {
        let first = PostgresStatement.recordColumnCount
        let sent = try row.decodeIfPresent(first + 2, as: Int16.self)
        let due = try row.decodeIfPresent(first + 3, as: Int64.self)
        let next = try due.flatMap { $0 == PostgresStatement.never ? nil : $0 }
            .map { try Timestamp(stored: $0, column: "due_at") }
        self = try NotificationRecord(row).adding(
            withdrawals: try row.decodeIfPresent(first, as: String.self).map(StorageCoding.decodeDeliveries) ?? [],
            reminders: try row.decode(first + 1) ? (Int(sent ?? 0), next) : nil)
    }
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
