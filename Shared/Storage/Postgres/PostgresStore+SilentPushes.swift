import Postgres
import SecurePushCore

extension PostgresStore {
    /// A recipient's first push inserts a row. If another dispatcher inserts it at the same time, this one asks again.
    private static let maxTries = 3

    func admit(
        _ requests: [SilentPushRequest], interval: Duration, now: Timestamp
    ) async throws -> [SilentPushAdmission] {
        // Sorted, so that two dispatchers never wait for each other's row locks.
        let sorted = requests.sorted { $0.key.precedes($1.key) }
        var admissions: [SilentPushKey: SilentPushAdmission] = [:]
        for _ in 0..<Self.maxTries {
            try await ask(sorted.filter { admissions[$0.key] == nil }, interval: interval, now: now, &admissions)
            try await begin(sorted.filter { admissions[$0.key] == nil }, now: now, &admissions)
            if admissions.count >= requests.count { break }
        }
        return try requests.map { request in
            guard let admission = admissions[request.key] else {
                throw StorageError(.unavailable, "The silent pushes of a recipient keep changing.")
            }
            return admission
        }
    }

    /// Decides about recipients and platforms that have a row.
    private func ask(
        _ requests: [SilentPushRequest], interval: Duration, now: Timestamp,
        _ admissions: inout [SilentPushKey: SilentPushAdmission]
    ) async throws {
        if requests.isEmpty { return }
        var parameters = PostgresParameters(capacity: requests.count * 96 + 128)
        parameters.append(requests) { $0.key.recipient.text }
        parameters.append(requests) { $0.key.platform.rawValue }
        parameters.append(requests) { PostgresUUID($0.id) }
        parameters.append(requests) { $0.sequence }
        parameters.append(requests) { $0.isReminder }
        parameters.append(now.milliseconds)
        parameters.append(interval.milliseconds)
        let result = try await query(.askForSilent, parameters)
        try decoding {
            for row in result {
                let request = try requests.element(at: row)
                let state = try SilentPushState(row)
                admissions[request.key] = state.admitting(request, interval: interval, now: now).admission
            }
        }
    }

    /// Grants the first push of recipients and platforms that have no row.
    private func begin(
        _ requests: [SilentPushRequest], now: Timestamp, _ admissions: inout [SilentPushKey: SilentPushAdmission]
    ) async throws {
        if requests.isEmpty { return }
        var parameters = PostgresParameters(capacity: requests.count * 96 + 128)
        parameters.append(requests) { $0.key.recipient.text }
        parameters.append(requests) { $0.key.platform.rawValue }
        parameters.append(requests) { $0.isReminder ? nil : PostgresUUID($0.id) }
        parameters.append(now.milliseconds)
        let result = try await query(.beginSilent, parameters)
        try decoding {
            for row in result {
                let request = try requests.element(at: row)
                admissions[request.key] = .granted(SilentPushGrant(key: request.key, sequence: 1))
            }
        }
    }

    func release(_ releases: [SilentPushRelease], interval: Duration, now: Timestamp) async throws {
        if releases.isEmpty { return }
        let releases = releases.sorted { $0.grant.key.precedes($1.grant.key) }
        var parameters = PostgresParameters(capacity: releases.count * 64 + 128)
        parameters.append(releases) { $0.grant.key.recipient.text }
        parameters.append(releases) { $0.grant.key.platform.rawValue }
        parameters.append(releases) { $0.grant.sequence }
        parameters.append(releases) { $0.isOwed }
        parameters.append((now - interval).milliseconds)
        _ = try await query(.releaseSilent, parameters)
    }
}

extension SilentPushState {
    /// The state before a request, as ``PostgresStatement/askForSilent`` returns it.
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            sequence: try row.decode(1, as: Int64.self), pushedAt: Timestamp(milliseconds: try row.decode(2)),
            pushedID: try row.decodeIfPresent(3, as: PostgresUUID.self).map { NotificationID($0) },
            waitingID: try row.decodeIfPresent(4, as: PostgresUUID.self).map { NotificationID($0) })
    }
}

extension [SilentPushRequest] {
    /// The request at the position in a row's first column, which counts from 1.
    fileprivate func element(at row: PostgresRow) throws -> SilentPushRequest {
        let place = try row.decode(0, as: Int64.self)
        guard place >= 1, place <= Int64(count) else { throw unreadable("of a request's position") }
        return self[Int(place) - 1]
    }
}

extension SilentPushKey {
    /// An order that is the same in all dispatchers.
    fileprivate func precedes(_ other: SilentPushKey) -> Bool {
        if recipient == other.recipient { return platform.rawValue < other.platform.rawValue }
        return recipient.text.utf8.lexicographicallyPrecedes(other.recipient.text.utf8)
    }
}

extension PostgresStatement {
    private static let gracePeriod = SilentPushState.gracePeriod.milliseconds

    /// ``SilentPushState/admitting(_:interval:now:)`` for many rows. It returns the positions of the requests, and the
    /// rows before the statement; the caller decides again, in the same way. The rows are locked in the order of the
    /// requests.
    fileprivate static let askForSilent = PostgresStatement(
        """
        WITH present AS (
            SELECT request.place, request.recipient, request.platform, request.id, request.is_reminder,
                state.turn, state.pushed_at, state.pushed_id, state.waiting_id,
                coalesce(request.turn < state.turn AND request.id < state.pushed_id, false) AS is_covered,
                least(state.pushed_at, $6) + $7 AS next_at,
                coalesce(state.waiting_id > request.id, false) AS is_older
            FROM unnest($1::text[], $2::text[], $3::uuid[], $4::bigint[], $5::boolean[]) WITH ORDINALITY
                AS request (recipient, platform, id, turn, is_reminder, place)
            JOIN silent_pushes AS state ON state.recipient = request.recipient AND state.platform = request.platform
            FOR UPDATE OF state
        ), decided AS (
            SELECT *, next_at <= $6 AND NOT (is_older AND $6 < next_at + \(gracePeriod)) AS is_granted FROM present
        ), changed AS (
            UPDATE silent_pushes AS state SET
                turn = CASE WHEN is_granted THEN decided.turn + 1 ELSE decided.turn END,
                pushed_at = CASE WHEN is_granted THEN $6 ELSE least(decided.pushed_at, $6) END,
                pushed_id = CASE WHEN NOT is_granted THEN decided.pushed_id WHEN NOT is_reminder THEN decided.id END,
                waiting_id = CASE WHEN NOT is_granted THEN greatest(decided.waiting_id, decided.id) END
            FROM decided
            WHERE state.recipient = decided.recipient AND state.platform = decided.platform AND NOT is_covered
        )
        SELECT place, turn, pushed_at, pushed_id, waiting_id FROM present
        """)

    fileprivate static let beginSilent = PostgresStatement(
        """
        WITH request AS (
            SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[]) WITH ORDINALITY
                AS request (recipient, platform, id, place)
        ), made AS (
            INSERT INTO silent_pushes (recipient, platform, turn, pushed_at, pushed_id)
            SELECT recipient, platform, 1, $4, id FROM request
            ON CONFLICT (recipient, platform) DO NOTHING
            RETURNING recipient, platform
        )
        SELECT request.place
        FROM request JOIN made ON made.recipient = request.recipient AND made.platform = request.platform
        """)

    /// ``SilentPushState/releasing(_:interval:now:)``.
    fileprivate static let releaseSilent = PostgresStatement(
        """
        UPDATE silent_pushes AS state SET pushed_at = $5, pushed_id = NULL,
            waiting_id = CASE WHEN is_owed THEN greatest(waiting_id, pushed_id) ELSE waiting_id END
        FROM unnest($1::text[], $2::text[], $3::bigint[], $4::boolean[]) AS unused (recipient, platform, turn, is_owed)
        WHERE state.recipient = unused.recipient AND state.platform = unused.platform AND state.turn = unused.turn
        """)

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
}
