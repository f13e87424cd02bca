import Domain
import Foundations

extension SQLiteStore {
    func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        try checkRunning()
        // A file that cannot be written to can be read all the same. The claim, which writes, decides then.
        if database.failedWork.hasFailures { return DispatchClaims() }
        let found = try await read { db in try ids.map { ($0, try db.first(SQLiteClaim.begin($0, now: now))) } }
        return DispatchClaims(found, now: now)
    }

    func enter(_ ids: [NotificationID], now: Timestamp) async throws {
        _ = try await commit(each: ids) { db, id in try db.run(SQLiteClaim.enter(id, now: now)) }
    }

    func claim(
        _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
    ) async throws -> DispatchClaims {
        let found = try await commit(each: Array(Set(ids))) { db, id in
            (id, try db.first(SQLiteClaim.make(id, isFirst: first.contains(id), now: now)))
        }
        return DispatchClaims(found, now: now)
    }

    func abandon(_ ids: [NotificationID]) async throws {
        _ = try await commit(each: ids) { db, id in try db.abandon(id) }
    }

    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
        let (withdrawals, bytes) = (withdrawals, outcomes.map { 256 + $0.deliveries.count * 256 }.max() ?? 0)
        let fenced = try await commit(each: outcomes, bytes: bytes) { db, outcome in
            try db.record(outcome, withdrawals) ? nil : outcome.id
        }
        return Set(fenced.compactMap(\.self))
    }
}

extension DispatchClaims {
    /// - Parameter found: `nil` for an unknown ID; a failure for a row that cannot be read.
    fileprivate init(_ found: [(NotificationID, Result<SQLiteClaim, any Error>?)], now: Timestamp) {
        self.init()
        for case (let id, let claim?) in found {
            do {
                let claim = try claim.get()
                if let time = claim.notBefore, time > now {
                    early[id] = time
                } else {
                    plans[id] = try claim.dispatchPlan()
                }
            } catch {
                unreadable[id] = StorageError(error)
            }
        }
    }
}

extension SQLTransaction {
    /// A row that cannot be read does not roll back the transaction, which other changes share.
    func first(_ claim: (id: NotificationID, sql: SQL)) throws -> Result<SQLiteClaim, any Error>? {
        try first(claim.sql) { row in Result { try SQLiteClaim(claim.id, &row) } }
    }
}

extension SQLiteTransaction {
    /// - Returns: whether its attempt was still the newest.
    func record(_ outcome: DispatchOutcome, _ withdrawals: WithdrawalMode) throws -> Bool {
        let isNewest =
            try run(
                """
                UPDATE notifications SET status = \(outcome.status),
                    deliveries = \(StorageCoding.encode(outcome.deliveries)), recorded_attempt = \(outcome.attempt)
                WHERE id = \(outcome.id) AND attempt = \(outcome.attempt)
                """) > 0
        guard isNewest else { return false }
        if let due = outcome.republishAt {
            try enter(outcome.id, due: .max, republishAt: due.milliseconds)
        } else if let due = outcome.dueAgain {
            // The sweep of unpublished entries finds it at that time. The entry looks confirmed, so that a late confirm
            // of its last publish does not change it, and its claim has ended.
            try run("UPDATE notifications SET claimed_at = NULL WHERE id = \(outcome.id)")
            try enter(outcome.id, due: due.milliseconds, republishAt: .max)
        } else if outcome.isFinal {
            try abandon(outcome.id)
        }
        try follow(outcome, withdrawals)
        return true
    }

    /// Adds a notification to the outbox, or changes its entry.
    private func enter(_ id: NotificationID, due: Int64, republishAt: Int64) throws {
        try run(
            """
            INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
            SELECT id, \(due), \(republishAt), traceparent FROM notifications WHERE id = \(id)
            ON CONFLICT (notification_id) DO UPDATE SET due_at = excluded.due_at, republish_at = excluded.republish_at
            """)
    }
}

/// A claimed notification: its plan, and its deliveries as stored. They are decoded after the commit, so that other
/// callers do not wait for that.
struct SQLiteClaim: Sendable {
    private var plan: DispatchPlan
    private var deliveries: String?
    let notBefore: Timestamp?

    /// Counts the attempt of a notification.
    ///
    /// - Parameter isFirst: whether an open first attempt is this one.
    static func make(_ id: NotificationID, isFirst: Bool, now: Timestamp) -> (id: NotificationID, sql: SQL) {
        let isEarly: SQL = "not_before > \(now)"
        let sql: SQL = """
            UPDATE notifications
            SET attempt = CASE WHEN \(isEarly) OR \(isFirst) AND \(raw: isFirstAttemptOpen) THEN attempt
                    ELSE min(attempt, \(Int32.max - 1)) + 1 END,
                claimed_at = CASE WHEN \(isEarly) THEN claimed_at ELSE \(now) END,
                status = CASE WHEN \(isEarly) THEN status ELSE max(status, \(DispatchStatus.queued)) END
            WHERE id = \(id)
            RETURNING \(raw: columns)
            """
        return (id, sql)
    }

    /// Finds a notification whose first attempt is open, unless its outbox entry is due soon.
    static func begin(_ id: NotificationID, now: Timestamp) -> (id: NotificationID, sql: SQL) {
        let time = now + OutboxPolicy.notice
        let sql: SQL = """
            SELECT \(raw: columns) FROM notifications
            WHERE id = \(id) AND \(raw: isFirstAttemptOpen) AND (not_before > \(now)) IS NOT TRUE AND EXISTS (
                SELECT 1 FROM outbox WHERE notification_id = notifications.id AND due_at > \(time)
                AND coalesce(republish_at > \(time), true))
            """
        return (id, sql)
    }

    static func enter(_ id: NotificationID, now: Timestamp) -> SQL {
        """
        UPDATE notifications SET claimed_at = \(now), status = max(status, \(DispatchStatus.queued))
        WHERE id = \(id) AND \(raw: isFirstAttemptOpen)
        """
    }

    private static let columns =
        "\(DispatchPlan.columns), attempt, deliveries, recorded_attempt, remind, not_before"

    /// Whether the first attempt of a row is open; see ``DispatchStore/begin(_:now:)``.
    private static let isFirstAttemptOpen = "attempt = 1 AND claimed_at IS NULL AND recorded_attempt IS NULL"

    /// Reads ``columns``.
    init(_ id: NotificationID, _ row: inout SQLRow) throws {
        plan = try DispatchPlan(id, &row)
        // Read as 32 bits, so that arithmetic with them cannot overflow.
        let attempt: Int32 = try row()
        deliveries = try row()
        let recorded: Int32? = try row()
        plan.remind = try row.mapIfPresent(StorageCoding.decodeRemind) ?? []
        notBefore = try row()
        plan.attempt = Int(attempt)
        plan.unrecordedClaims = max(0, Int(attempt) - 1 - Int(recorded ?? 0))
    }

    func dispatchPlan() throws -> DispatchPlan {
        guard let deliveries else { return plan }
        var plan = plan
        plan.deliveries = try StorageCoding.decodeDeliveries(deliveries)
        return plan
    }
}
