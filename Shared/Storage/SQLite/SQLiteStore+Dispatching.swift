import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
        try checkRunning()
        // A file that cannot be written to can be read all the same. The claim, which writes, decides then.
        if database.failedWork.hasFailures { return DispatchClaims() }
        let found = try await database.read { db in
            try ids.map { ($0, try SQLiteClaim.begin($0, now: now, db)) }
        }
        var claims = DispatchClaims()
        for (id, claim) in found { claims.add(id, claim, now: now) }
        return claims
    }

    func enter(_ ids: [NotificationID], now: Timestamp) async throws {
        _ = try await submit(ids.map { .enter($0, now: now) })
    }

    func claim(
        _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
    ) async throws -> DispatchClaims {
        let ids = Array(Set(ids))
        var claims = DispatchClaims()
        let outputs = try await submit(ids.map { .claim($0, isFirst: first.contains($0), now: now) })
        for (id, output) in zip(ids, outputs) {
            if case .claimed(let claim) = output { claims.add(id, claim, now: now) }
        }
        return claims
    }

    func abandon(_ ids: [NotificationID]) async throws {
        _ = try await submit(ids.map { .abandon($0) })
    }

    func record(_ outcomes: [DispatchOutcome]) async throws -> Set<NotificationID> {
        var fenced: Set<NotificationID> = []
        for (outcome, output) in zip(outcomes, try await submit(outcomes.map { .record($0) })) {
            if case .recorded(false) = output { fenced.insert(outcome.id) }
        }
        return fenced
    }
}

extension DispatchClaims {
    /// Adds what was claimed of an ID; `nil` for an unknown one.
    fileprivate mutating func add(
        _ id: NotificationID, _ claim: Result<SQLiteClaim, StorageError>?, now: Timestamp
    ) {
        guard let claim else { return }
        do {
            let claim = try claim.get()
            if let time = claim.notBefore, time > now { return early[id] = time }
            plans[id] = try claim.dispatchPlan()
        } catch {
            unreadable[id] = StorageError(error)
        }
    }
}

/// A claimed notification: its plan, and its deliveries as stored. They are decoded after the commit, so that other
/// callers do not wait for that.
struct SQLiteClaim: Sendable {
    private var plan: DispatchPlan
    private var deliveries: String?
    fileprivate let notBefore: Timestamp?

    /// Counts the attempt of a notification and reads its plan.
    ///
    /// - Parameter isFirst: whether an open first attempt is this one.
    /// - Returns: `nil` for an unknown ID; a failure for a row that cannot be read.
    /// - Throws: an error of the database; only that rolls back the transaction, which other changes share.
    static func make(
        _ id: NotificationID, isFirst: Bool, now: Timestamp, _ db: Database
    ) throws -> Result<SQLiteClaim, StorageError>? {
        let statement = try db.cachedStatement(sql: make)
        let arguments: StatementArguments = [
            now.milliseconds, isFirst, now.milliseconds, now.milliseconds, now.milliseconds, id.data,
        ]
        guard let row = try Row.fetchOne(statement, arguments: arguments) else { return nil }
        return Result { try SQLiteClaim(id, row) }.mapError { StorageError($0) }
    }

    private static let make = """
        UPDATE notifications
        SET attempt = CASE WHEN not_before > ? OR ? AND \(isFirstAttemptOpen) THEN attempt
                ELSE min(attempt, \(Int32.max - 1)) + 1 END,
            claimed_at = CASE WHEN not_before > ? THEN claimed_at ELSE ? END,
            status = CASE WHEN not_before > ? THEN status ELSE max(status, \(DispatchStatus.queued.rawValue)) END
        WHERE id = ?
        RETURNING \(columns)
        """

    /// Reads the plan of a notification whose first attempt is open.
    ///
    /// - Returns: as ``make(_:isFirst:now:_:)``; `nil` also if the attempt is not open, or its outbox entry is due
    ///   soon.
    static func begin(
        _ id: NotificationID, now: Timestamp, _ db: Database
    ) throws -> Result<SQLiteClaim, StorageError>? {
        let statement = try db.cachedStatement(sql: begin)
        let time = now + OutboxPolicy.notice
        let arguments: StatementArguments = [id.data, now.milliseconds, time.milliseconds, time.milliseconds]
        guard let row = try Row.fetchOne(statement, arguments: arguments) else { return nil }
        return Result { try SQLiteClaim(id, row) }.mapError { StorageError($0) }
    }

    static let begin = """
        SELECT \(columns) FROM notifications
        WHERE id = ? AND \(isFirstAttemptOpen) AND (not_before > ?) IS NOT TRUE AND EXISTS (
            SELECT 1 FROM outbox WHERE notification_id = notifications.id AND due_at > ?
            AND coalesce(republish_at > ?, true))
        """

    static let enter = """
        UPDATE notifications SET claimed_at = ?, status = max(status, \(DispatchStatus.queued.rawValue))
        WHERE id = ? AND \(isFirstAttemptOpen)
        """

    private static let columns = """
        recipient, presentation, alert_title, alert_body, platforms, expires_at, collapse_key,
            priority, traceparent, revoked_at, attempt, deliveries, bounds_push, recorded_attempt, remind, not_before
        """

    /// Whether the first attempt of a row is open; see ``DispatchStore/begin(_:now:)``.
    private static let isFirstAttemptOpen = "attempt = 1 AND claimed_at IS NULL AND recorded_attempt IS NULL"

    /// Reads the columns of ``columns``.
    init(_ id: NotificationID, _ row: Row) throws {
        let code: Int16 = try row.value(1, column: "presentation")
        guard let presentation = Presentation(code: code) else { throw Row.unreadable("presentation") }
        let alert = AlertText(
            title: try row.valueIfPresent(2, column: "alert_title"),
            body: try row.valueIfPresent(3, column: "alert_body"))
        let platforms: String? = try row.valueIfPresent(4, column: "platforms")
        let priority: Int16? = try row.valueIfPresent(7, column: "priority")
        let revokedAt: Int64? = try row.valueIfPresent(9, column: "revoked_at")
        // Read as 32 bits, so that arithmetic with them cannot overflow.
        let attempt: Int32 = try row.value(10, column: "attempt")
        let recorded: Int32? = try row.valueIfPresent(13, column: "recorded_attempt")
        deliveries = try row.valueIfPresent(11, column: "deliveries")
        // Not in SQL: in RETURNING of an UPDATE of a table without row IDs, `IS NULL` gives wrong results (SQLite
        // 3.40).
        let remind: String? = try row.valueIfPresent(14, column: "remind")
        let time: Int64? = try row.valueIfPresent(15, column: "not_before")
        notBefore = try time.map { try Timestamp(stored: $0, column: "not_before") }
        let newest = recorded.map(Int.init) ?? (deliveries == nil ? 0 : Int(attempt) - 1)
        plan = DispatchPlan(
            id: id, recipient: try row.userName(0, column: "recipient"), presentation: presentation,
            alert: alert == AlertText() ? nil : alert, platforms: platforms.map(StorageCoding.decodePlatforms),
            expiresAt: try Timestamp(stored: try row.value(5, column: "expires_at"), column: "expires_at"),
            expiryBoundsPush: try row.value(12, column: "bounds_push"),
            collapseKey: try row.valueIfPresent(6, column: "collapse_key"),
            priority: priority.flatMap(Priority.init(code:)),
            traceparent: try row.valueIfPresent(8, column: "traceparent"), isRevoked: revokedAt != nil,
            attempt: Int(attempt), unrecordedClaims: max(0, Int(attempt) - 1 - newest),
            remind: try remind.map(StorageCoding.decodeRemind) ?? [])
    }

    /// The plan with its deliveries.
    func dispatchPlan() throws -> DispatchPlan {
        guard let deliveries else { return plan }
        var plan = plan
        plan.deliveries = try StorageCoding.decodeDeliveries(deliveries)
        return plan
    }
}

extension SQLiteStore {
    func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord] {
        let records = try await dispatchRows(ids).compactMap { try? $0.value.get().record }
        return Dictionary(records.map { ($0.id, $0) }) { first, _ in first }
    }

    func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp
    ) async throws -> [NotificationID: ReplayDecision] {
        try await reopen(Array(letters.keys), now: now) { $0.reopening(letters[$0.id] ?? [], now: now) }
    }

    func resend(_ id: NotificationID, sender: String, now: Timestamp) async throws -> ReplayDecision? {
        // The sender of a notification never changes.
        guard try await record(id, sender: sender) != nil else { return nil }
        return try await reopen([id], now: now) { $0.resending(now: now) }[id]
    }

    private func reopen(
        _ ids: [NotificationID], now: Timestamp,
        deciding decide: (NotificationRecord) -> (result: ReplayDecision, deliveries: [Delivery])
    ) async throws -> [NotificationID: ReplayDecision] {
        try await NotificationReplay.run(ids, decide: decide) { ids in
            try await dispatchRows(ids)
        } write: { changes in
            let outputs = try await submit(changes.map { .reopen($0, now: now) })
            return Set(outputs.compactMap { if case .reopened(let id?) = $0 { id } else { nil } })
        }
    }

    private func dispatchRows(_ ids: [NotificationID]) async throws -> NotificationReplay.Rows {
        try checkRunning()
        return try await database.read { db in
            let statement = try db.cachedStatement(sql: NotificationReplay.Row.select)
            var rows: NotificationReplay.Rows = [:]
            for id in Set(ids) {
                guard let row = try Row.fetchOne(statement, arguments: [id.data]) else { continue }
                rows[id] = Result {
                    NotificationReplay.Row(
                        record: try NotificationRecord(row).withDeliveries(row),
                        attempt: try row.value(NotificationRecord.columnCount, column: "attempt"),
                        deliveries: try row.valueIfPresent(8, column: "deliveries"))
                }.mapError { StorageError($0) }
            }
            return rows
        }
    }
}

extension NotificationReplay.Row {
    static let select = "SELECT \(NotificationRecord.columns), attempt FROM notifications WHERE id = ?"
}

extension NotificationReplay.Change {
    /// - Returns: the ID, if the record has not changed since it was read.
    func execute(now: Timestamp, _ db: Database) throws -> NotificationID? {
        let statement = try db.cachedStatement(
            sql: """
                UPDATE notifications SET deliveries = ?, status = \(DispatchStatus.queued.rawValue),
                    attempt = min(attempt, \(Int32.max - 1)) + 1,
                    recorded_attempt = \(SQLiteSchema.recordedAttempt("attempt")) + 1
                WHERE id = ? AND attempt = ? AND deliveries IS ?
                """)
        try statement.execute(arguments: [new, id.data, attempt, old])
        guard db.changesCount > 0 else { return nil }
        try SQLiteWrite.enter(id, due: now + OutboxPolicy.redelivery, db)
        return id
    }
}
