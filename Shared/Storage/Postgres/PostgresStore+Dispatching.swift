import Domain
import Foundations
import Postgres

extension PostgresStore {
    func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        if ids.isEmpty { return DispatchClaims() }
        var parameters = PostgresParameters(capacity: ids.count * 20 + 32)
        parameters.append(ids) { PostgresUUID($0) }
        parameters.append((now + OutboxPolicy.notice).milliseconds)
        parameters.append(now.milliseconds)
        let result = try await query(.begin, parameters)
        // A push that is sent without a write must be recorded later.
        let isReadOnly = try decoding { try result.first?.decode(PostgresStatement.planColumnCount, as: Bool.self) }
        if isReadOnly == true { throw StorageError(.unavailable, "The database is read-only.") }
        return try claims(result, now: nil)
    }

    func enter(_ ids: [NotificationID], now: Timestamp) async throws {
        if ids.isEmpty { return }
        var parameters = PostgresParameters(capacity: ids.count * 20 + 32)
        parameters.append(ids.sorted()) { PostgresUUID($0) }
        parameters.append(now.milliseconds)
        _ = try await query(.enter, parameters)
    }

    func claim(
        _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
    ) async throws -> DispatchClaims {
        if ids.isEmpty { return DispatchClaims() }
        let ids = ids.sorted()
        var parameters = PostgresParameters(capacity: ids.count * 26 + 64)
        parameters.append(ids) { PostgresUUID($0) }
        parameters.append(now.milliseconds)
        parameters.append(ids) { first.contains($0) }
        return try claims(try await query(.claim, parameters), now: now)
    }

    /// - Parameter now: the time of a claim, whose rows have one column more: their `NotBefore`.
    private func claims(_ result: PostgresResult, now: Timestamp?) throws -> DispatchClaims {
        try decoding {
            var claims = DispatchClaims()
            claims.plans.reserveCapacity(result.count)
            for row in result {
                let id = NotificationID(try row.decode(0, as: PostgresUUID.self))
                // A claim of all rows is committed: a row that cannot be read must not prevent sending the others.
                do {
                    if let now, let time = try row.decodeIfPresent(PostgresStatement.planColumnCount, as: Int64.self),
                        time > now.milliseconds
                    {
                        claims.early[id] = try Timestamp(stored: time, column: "not_before")
                    } else {
                        claims.plans[id] = try DispatchPlan(id, row)
                    }
                } catch {
                    claims.unreadable[id] = StorageError.unreadableRow(error)
                }
            }
            return claims
        }
    }

    func abandon(_ ids: [NotificationID]) async throws {
        if ids.isEmpty { return }
        var parameters = PostgresParameters(capacity: ids.count * 20 + 32)
        parameters.append(ids.sorted()) { PostgresUUID($0) }
        _ = try await query(.abandon, parameters)
    }

    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
        let (postponed, others) = outcomes.partitionedByDueAgain
        let fenced = try await record(others, arePostponed: false)
        return postponed.isEmpty ? fenced : fenced.union(try await record(postponed, arePostponed: true))
    }

    private func record(_ outcomes: [DispatchOutcome], arePostponed: Bool) async throws -> Set<NotificationID> {
        if outcomes.isEmpty { return [] }
        let outcomes = outcomes.sorted { $0.id < $1.id }
        var parameters = PostgresParameters(capacity: outcomes.count * 256 + 128)
        parameters.append(outcomes) { PostgresUUID($0.id) }
        parameters.append(outcomes) { Int32(clamping: $0.attempt) }
        parameters.append(outcomes) { Int16($0.status.rawValue) }
        parameters.append(outcomes) { StorageCoding.encode($0.deliveries) }
        parameters.append(outcomes) { (arePostponed ? $0.dueAgain : $0.republishAt)?.milliseconds }
        let follows = appendFollowUps(of: outcomes, &parameters)
        let statement: PostgresStatement =
            switch (arePostponed, follows) {
            case (false, false): .record
            case (false, true): .recordAndFollow
            case (true, false): .recordPostponed
            case (true, true): .recordPostponedAndFollow
            }
        let result = try await query(statement, parameters)
        return try decoding {
            Set(try result.map { NotificationID(try $0.decode(0, as: PostgresUUID.self)) })
        }
    }
}

extension PostgresStatement {
    /// The attempt is stored before the hub is called. A redelivery never lowers a status. Claims without an outcome
    /// are those since the last recorded attempt.
    ///
    /// Numbers are kept from overflowing, because an error in one row would fail the claim of all. A row whose
    /// `NotBefore` has not come keeps its values; that is rare, and so worth no second look at all other rows.
    fileprivate static let claim = PostgresStatement(
        """
        UPDATE notifications AS n
        SET attempt = CASE WHEN n.not_before > $2 OR claimed.is_first AND \(isFirstAttemptOpen) THEN n.attempt
                ELSE least(n.attempt, 2147483646) + 1 END,
            claimed_at = CASE WHEN n.not_before > $2 THEN n.claimed_at ELSE $2 END,
            status = CASE WHEN n.status = 0 AND (n.not_before > $2) IS NOT TRUE THEN 1 ELSE n.status END
        FROM unnest($1::uuid[], $3::boolean[]) AS claimed (id, is_first) WHERE n.id = claimed.id
        RETURNING \(planColumns), n.not_before
        """)

    /// Reads two tables by their keys and locks nothing: only one dispatcher asks.
    static let beginSQL = """
        SELECT \(planColumns), current_setting('transaction_read_only')::boolean
        FROM unnest($1::uuid[]) AS asked (id)
        JOIN notifications AS n ON n.id = asked.id JOIN outbox AS entry ON entry.notification_id = n.id
        WHERE \(isFirstAttemptOpen) AND entry.due_at > $2 AND coalesce(entry.republish_at > $2, true)
            AND (n.not_before > $3) IS NOT TRUE
        """

    fileprivate static let begin = PostgresStatement(beginSQL)

    fileprivate static let enter = PostgresStatement(
        """
        UPDATE notifications AS n SET claimed_at = $2, status = CASE n.status WHEN 0 THEN 1 ELSE n.status END
        FROM unnest($1::uuid[]) AS begun (id) WHERE n.id = begun.id AND \(isFirstAttemptOpen)
        """)

    /// What ``DispatchPlan/init(_:_:)`` reads of a row `n`.
    private static let planColumns = """
        n.id, n.recipient, n.presentation, n.alert_title, n.alert_body, n.platforms, n.expires_at,
            n.collapse_key, n.priority, n.traceparent, n.revoked_at IS NOT NULL, n.attempt, n.deliveries,
            n.bounds_push = 1, n.attempt::bigint - 1 - coalesce(n.recorded_attempt, 0), n.remind
        """
    fileprivate static let planColumnCount = 16

    /// Whether the first attempt of a row `n` is open; see ``DispatchStore/begin(_:now:)``.
    static let isFirstAttemptOpen = "n.attempt = 1 AND n.claimed_at IS NULL AND n.recorded_attempt IS NULL"

    fileprivate static let abandon = PostgresStatement(
        "DELETE FROM outbox WHERE notification_id = ANY ($1::uuid[])")

    /// The attempt is the fence: after a later claim, this outcome is not stored. Lock order as in all statements: the
    /// notification, then its outbox entry.
    fileprivate static let record = PostgresStatement(recording(and: "", input: "", columns: ""))

    /// A statement that records outcomes.
    ///
    /// - Parameters:
    ///   - work: more common table expressions, each with a comma before it.
    ///   - input: more columns of the outcomes, each with a comma before it.
    ///   - columns: more columns of `recorded`, in the same way.
    static func recording(and work: String, input: String, columns: String) -> String {
        """
        WITH recorded AS (
            UPDATE notifications AS n
            SET status = outcome.status, deliveries = outcome.deliveries, recorded_attempt = outcome.attempt
            FROM (
                SELECT \(outcomeInput), unnest($5::bigint[]) AS republish_at\(input)
            ) AS outcome
            WHERE n.id = outcome.id AND n.attempt = outcome.attempt
            RETURNING n.id, n.status, n.traceparent, outcome.republish_at\(columns)
        ), settled AS (
            DELETE FROM outbox USING recorded
            WHERE notification_id = recorded.id AND recorded.status > 1 AND recorded.republish_at IS NULL
        ), open AS (
            SELECT id, republish_at, traceparent FROM recorded WHERE republish_at IS NOT NULL
        ), published AS (
            \(publishedOfOpen)
        )\(work)
        \(unrecorded)
        """
    }

    /// Stores outcomes whose notifications wait for a time; see ``DispatchOutcome/dueAgain``. The sweep of unpublished
    /// entries finds them at that time. They look confirmed, so that a late confirm of their last publish does not
    /// change them, and their claim has ended.
    static let recordPostponed = PostgresStatement(postponing(and: "", input: "", columns: ""))

    /// The parameters are those of ``recording(and:input:columns:)``.
    static func postponing(and work: String, input: String, columns: String) -> String {
        """
        WITH recorded AS (
            UPDATE notifications AS n
            SET status = outcome.status, deliveries = outcome.deliveries, recorded_attempt = outcome.attempt,
                claimed_at = NULL
            FROM (SELECT \(outcomeInput), unnest($5::bigint[]) AS due_at\(input)) AS outcome
            WHERE n.id = outcome.id AND n.attempt = outcome.attempt
            RETURNING n.id, n.traceparent, outcome.due_at\(columns)
        ), entry AS (
            INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
            SELECT id, due_at, \(never), traceparent FROM recorded
            ON CONFLICT (notification_id) DO UPDATE SET due_at = excluded.due_at, republish_at = excluded.republish_at
        )\(work)
        \(unrecorded)
        """
    }

    /// The first columns of outcomes. `unnest` in a list of columns costs less than in FROM, where PostgreSQL keeps all
    /// rows in a buffer first.
    static let outcomeInput = """
        unnest($1::uuid[]) AS id, unnest($2::integer[]) AS attempt, unnest($3::smallint[]) AS status,
        unnest($4::text[]) AS deliveries
        """

    /// The outcomes that the CTE `recorded` does not contain. Usually it contains all, and the number shows that.
    static let unrecorded = """
        SELECT id FROM unnest($1::uuid[]) AS outcome (id)
        WHERE (SELECT count(*) FROM recorded) < cardinality($1) AND (id IN (SELECT id FROM recorded)) IS NOT TRUE
        """
}

extension [DispatchOutcome] {
    /// Those that wait for a time (``DispatchOutcome/dueAgain``), and the others. Without `SILENT_PUSH_MIN_INTERVAL`
    /// none waits.
    fileprivate var partitionedByDueAgain: (postponed: [DispatchOutcome], others: [DispatchOutcome]) {
        guard contains(where: { $0.dueAgain != nil }) else { return ([], self) }
        return (filter { $0.dueAgain != nil }, filter { $0.dueAgain == nil })
    }
}

extension DispatchPlan {
    /// A row of ``PostgresStatement/claim``.
    init(_ id: NotificationID, _ row: PostgresRow) throws {
        guard let presentation = Presentation(code: try row.decode(2)) else { throw unreadable("presentation") }
        let title = try row.decodeIfPresent(3, as: String.self)
        let body = try row.decodeIfPresent(4, as: String.self)
        self.init(
            id: id, recipient: try row.userName(1), presentation: presentation,
            alert: title == nil && body == nil ? nil : AlertText(title: title, body: body),
            platforms: try row.decodeIfPresent(5, as: String.self).map(StorageCoding.decodePlatforms),
            expiresAt: try Timestamp(stored: try row.decode(6), column: "expires_at"),
            expiryBoundsPush: try row.decode(13),
            collapseKey: try row.decodeIfPresent(7),
            priority: try row.decodeIfPresent(8, as: Int16.self).flatMap(Priority.init(code:)),
            traceparent: try row.decodeIfPresent(9), isRevoked: try row.decode(10),
            attempt: Int(try row.decode(11, as: Int32.self)),
            unrecordedClaims: Int(min(max(0, try row.decode(14, as: Int64.self)), Int64(Int32.max))),
            deliveries: try row.decodeIfPresent(12, as: String.self).map(StorageCoding.decodeDeliveries) ?? [],
            remind: try row.decodeIfPresent(15, as: String.self).map(StorageCoding.decodeRemind) ?? [])
    }
}
