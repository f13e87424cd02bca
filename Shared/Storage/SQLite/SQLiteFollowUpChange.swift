import Foundation
import GRDB
import SecurePushCore

extension SQLiteStore {
    func leaseFollowUps(limit: Int, now: Timestamp) async throws -> [OutboxEntry] {
        let output = try await submit([.followUp(.lease(max(limit, 0), now: now))]).first
        guard case .leasedFollowUps(let entries)? = output else { return [] }
        return entries
    }
}

extension SQLiteStore {
    func claimFollowUps(_ followUps: [FollowUp], now: Timestamp) async throws -> FollowUpClaims {
        let followUps = Array(Set(followUps))
        var claims = FollowUpClaims()
        let outputs = try await submit(followUps.map { .followUp(.claim($0, now: now)) })
        for (followUp, output) in zip(followUps, outputs) {
            guard case .claimedFollowUp(let claim?) = output else { continue }
            switch claim {
            case .success(let plan): claims.plans[followUp] = plan
            case .failure(let error): claims.unreadable[followUp] = error
            }
        }
        return claims
    }

    func recordFollowUps(_ outcomes: [FollowUpOutcome]) async throws {
        _ = try await submit(outcomes.map { .followUp(.record($0)) })
    }

    func abandonFollowUps(_ followUps: [FollowUp]) async throws {
        _ = try await submit(followUps.map { .followUp(.abandon($0)) })
    }
}

/// A change of follow-ups. The transaction holds the writer's lock, so nothing changes between a look and the write
/// that depends on it.
enum SQLiteFollowUpChange: Sendable {
    case lease(Int, now: Timestamp)
    case claim(FollowUp, now: Timestamp)
    case record(FollowUpOutcome)
    case abandon(FollowUp)

    func execute(_ db: Database) throws -> SQLiteWrite.Output {
        switch self {
        case .lease(let limit, let now): return .leasedFollowUps(try Self.lease(limit, now: now, db))
        case .claim(let followUp, let now): return .claimedFollowUp(try Self.claim(followUp, now: now, db))
        case .record(let outcome):
            try Self.record(outcome, db)
            return .done
        case .abandon(let followUp):
            try db.cachedStatement(sql: Self.abandon).execute(arguments: followUp.arguments)
            return .done
        }
    }

    /// Makes a withdrawal if a platform has accepted the push. If there is one already, it is due again, and a claim
    /// that does not know of the new push or the revocation does not end it (``FollowUpState/repeated``). It goes only
    /// to platforms that have not had it.
    static func withdraw(_ id: NotificationID, now: Timestamp, _ db: Database) throws {
        let statement = try db.cachedStatement(sql: insertWithdrawal)
        try statement.execute(arguments: [now.milliseconds, id.data])
    }

    /// Makes the follow-ups of a recorded outcome: a withdrawal if the notification was revoked, or read, while it was
    /// being pushed; the first reminder, or another time for the next one.
    static func follow(_ outcome: DispatchOutcome, _ withdrawals: WithdrawalMode, _ db: Database) throws {
        guard outcome.pushedAt != nil || (withdrawals != .off && outcome.acceptedAt != nil) else { return }
        let statement = try db.cachedStatement(sql: findNotification)
        guard let row = try Row.fetchOne(statement, arguments: [outcome.id.data]) else { return }
        let (isRevoked, isRead) = (!row.hasNull(atIndex: 0), !row.hasNull(atIndex: 1))
        if let time = outcome.acceptedAt, withdrawals.applies(isRevoked: isRevoked, isRead: isRead) {
            try withdraw(outcome.id, now: time, db)
        }
        guard let pushedAt = outcome.pushedAt, !isRevoked, !isRead else { return }
        let reminder = FollowUp(id: outcome.id, kind: .reminder)
        let present = try Row.fetchOne(db.cachedStatement(sql: find), arguments: reminder.arguments)
        if let present, (present[2] as Int64) != 0 || (present[1] as Int64) == SQLiteSchema.never { return }
        let step = present.map { Int($0[4] as Int64) } ?? 0
        // A row that cannot be read must not roll back the outcomes of others.
        guard let remind = remind(row[2]) else { return }
        let due = FollowUpPolicy.due(step: step + 1, of: remind, push: pushedAt)
        try db.cachedStatement(sql: scheduleReminder).execute(arguments: [
            outcome.id.data, due?.milliseconds ?? SQLiteSchema.never,
        ])
    }

    private static func remind(_ text: String?) -> [Duration]? {
        text.flatMap { try? StorageCoding.decodeRemind($0) }
    }

    /// The record of a notification with the results of its follow-ups.
    static func adding(
        to record: NotificationRecord, hasReminders: Bool, _ db: Database
    ) throws -> NotificationRecord {
        let statement = try db.cachedStatement(sql: find)
        let withdrawal = try Row.fetchOne(
            statement, arguments: FollowUp(id: record.id, kind: .withdrawal).arguments)
        let reminder = try Row.fetchOne(statement, arguments: FollowUp(id: record.id, kind: .reminder).arguments)
        let deliveries: String? = try withdrawal?.valueIfPresent(5, column: "deliveries")
        let due: Int64? = try reminder?.value(1, column: "due_at")
        let next = try due.flatMap { $0 == SQLiteSchema.never ? nil : $0 }
            .map { try Timestamp(stored: $0, column: "due_at") }
        let sent: Int = try reminder?.value(6, column: "sent") ?? 0
        return record.adding(
            withdrawals: try deliveries.map(StorageCoding.decodeDeliveries) ?? [],
            reminders: hasReminders ? (sent, next) : nil)
    }
}

extension SQLiteFollowUpChange {
    private static func lease(_ limit: Int, now: Timestamp, _ db: Database) throws -> [OutboxEntry] {
        let update = try db.cachedStatement(sql: update)
        var entries: [OutboxEntry] = []
        for row in try Row.fetchAll(db.cachedStatement(sql: due), arguments: [now.milliseconds, limit]) {
            let id = try row.notificationID(0)
            let code: Int16 = try row.value(1, column: "kind")
            guard let kind = FollowUp.Kind(code: code) else {
                // A row of a kind that only a later version knows does not hold up the others.
                let later = FollowUpPolicy.publishAgain(now: now, published: FollowUpPolicy.maxDoublings)
                try update.execute(arguments: [later.milliseconds, 0, 0, id.data, code])
                continue
            }
            let followUp = FollowUp(id: id, kind: kind)
            guard let expiresAt: Int64 = row[4] else {
                try db.cachedStatement(sql: remove).execute(arguments: [id.data])
                continue
            }
            let isClosed = !row.hasNull(atIndex: 5) || !row.hasNull(atIndex: 6) || expiresAt <= now.milliseconds
            let (state, published): (Int, Int) = (
                try row.value(2, column: "state"), try row.value(3, column: "published")
            )
            if kind == .reminder, isClosed {
                try update.execute(arguments: [SQLiteSchema.never, state, published] + followUp.arguments)
                continue
            }
            let again = FollowUpPolicy.publishAgain(now: now, published: published)
            let isNew = state == FollowUpState.scheduled.rawValue
            try update.execute(
                arguments: [
                    again.milliseconds, isNew ? FollowUpState.published.rawValue : state, min(published, 100) + 1,
                ] + followUp.arguments)
            entries.append(OutboxEntry(id: id, traceparent: row[7], kind: kind))
        }
        return entries
    }

    /// - Throws: an error of the database; only that rolls back the transaction, which other changes share.
    private static func claim(
        _ followUp: FollowUp, now: Timestamp, _ db: Database
    ) throws -> Result<DispatchPlan, StorageError>? {
        guard let present = try Row.fetchOne(db.cachedStatement(sql: find), arguments: followUp.arguments),
            let row = try Row.fetchOne(db.cachedStatement(sql: notification), arguments: [followUp.id.data])
        else { return nil }
        let (due, state): (Int64, Int64) = (present[1], present[2])
        var step: Int64 = present[4]
        guard due != SQLiteSchema.never else { return nil }
        var deliveries: String? = present[5]
        var next = FollowUpPolicy.claimEnd(now: now, due: Timestamp(milliseconds: due)).milliseconds
        let (expiresAt, isClosed): (Int64, Bool) = (row[5], !row.hasNull(atIndex: 9) || !row.hasNull(atIndex: 16))
        if followUp.kind == .reminder {
            guard state != 0, !isClosed, expiresAt > now.milliseconds else { return nil }
            if state == FollowUpState.published.rawValue { (step, deliveries) = (min(step, 1000) + 1, nil) }
            let due = FollowUpPolicy.due(step: Int(clamping: step) + 1, of: remind(row[14]) ?? [], push: now)
            next = due?.milliseconds ?? SQLiteSchema.never
        }
        let attempt = min(max(present[3] as Int64, 0), Int64(Int32.max - 1)) + 1
        try db.cachedStatement(sql: noteClaim).execute(
            arguments: [attempt, step, deliveries, next] + followUp.arguments)
        let isRead = !row.hasNull(atIndex: 16)
        return Result {
            try SQLiteClaim(followUp.id, row).dispatchPlan().following(
                followUp, attempt: Int(attempt), step: Int(clamping: step),
                deliveries: try deliveries.map(StorageCoding.decodeDeliveries) ?? [], isRead: isRead,
                revokedAt: try row.storedTimeIfPresent(9, column: "revoked_at"))
        }.mapError { StorageError($0) }
    }

    /// A reminder is tried again only if its next step does not come first. The claim of a step has removed the
    /// deliveries of the step before, so the first ones with a platform that accepted it count the step as sent.
    private static func record(_ outcome: FollowUpOutcome, _ db: Database) throws {
        let followUp = outcome.followUp
        guard let present = try Row.fetchOne(db.cachedStatement(sql: find), arguments: followUp.arguments),
            (present[3] as Int64) == Int64(outcome.attempt)
        else { return }
        var (due, state): (Int64, Int64) = (present[1], present[2])
        let nextTry = outcome.nextTry?.milliseconds
        if followUp.kind == .withdrawal {
            if state != FollowUpState.repeated.rawValue { due = nextTry ?? SQLiteSchema.never }
        } else if let nextTry, state == 0, nextTry < due {
            (due, state) = (nextTry, Int64(FollowUpState.repeated.rawValue))
        }
        let (before, sent): (String?, Int64) = (present[5], present[6])
        let isFirstSent =
            followUp.kind == .reminder && outcome.isSent && !(before?.contains(StorageCoding.sent) ?? false)
        try db.cachedStatement(sql: noteOutcome).execute(
            arguments: [
                StorageCoding.encode(outcome.deliveries), due, state, isFirstSent ? min(sent, 1000) + 1 : sent,
            ] + followUp.arguments)
    }
}

extension FollowUp {
    /// The primary key.
    fileprivate var arguments: StatementArguments { [id.data, kind.code] }
}

extension SQLiteFollowUpChange {
    static let insertWithdrawal = """
        INSERT INTO follow_ups (notification_id, kind, due_at, attempt)
        SELECT id, \(FollowUp.Kind.withdrawal.code), ?, 1 FROM notifications
        WHERE id = ? AND instr(deliveries, '\(StorageCoding.sent)') > 0
        ON CONFLICT (notification_id, kind) DO UPDATE SET due_at = excluded.due_at,
            state = \(FollowUpState.repeated.rawValue), published = 0
        """

    static let scheduleReminder = """
        INSERT INTO follow_ups (notification_id, kind, due_at) VALUES (?, \(FollowUp.Kind.reminder.code), ?)
        ON CONFLICT (notification_id, kind) DO UPDATE SET due_at = excluded.due_at
        """

    static let find = """
        SELECT notification_id, due_at, state, attempt, step, deliveries, sent FROM follow_ups
        WHERE notification_id = ? AND kind = ?
        """

    static let findNotification = "SELECT revoked_at, read_at, remind FROM notifications WHERE id = ?"

    static let due = """
        SELECT f.notification_id, f.kind, f.state, f.published, n.expires_at, n.read_at, n.revoked_at, n.traceparent
        FROM follow_ups AS f LEFT JOIN notifications AS n ON n.id = f.notification_id
        WHERE f.due_at <= ? AND f.due_at < \(SQLiteSchema.never) ORDER BY f.due_at, f.notification_id LIMIT ?
        """

    static let update = """
        UPDATE follow_ups SET due_at = ?, state = ?, published = ? WHERE notification_id = ? AND kind = ?
        """

    static let abandon =
        "UPDATE follow_ups SET due_at = \(SQLiteSchema.never) WHERE notification_id = ? AND kind = ?"

    static let remove = "DELETE FROM follow_ups WHERE notification_id = ?"

    /// The columns are those of a claim of the notification, and the time of the first reading.
    static let notification = """
        SELECT recipient, presentation, alert_title, alert_body, platforms, expires_at, collapse_key, priority,
            traceparent, revoked_at, attempt, deliveries, bounds_push, recorded_attempt, remind, not_before,
            read_at
        FROM notifications WHERE id = ?
        """

    static let noteClaim = """
        UPDATE follow_ups SET attempt = ?, step = ?, deliveries = ?, due_at = ?, state = 0, published = 0
        WHERE notification_id = ? AND kind = ?
        """

    static let noteOutcome = """
        UPDATE follow_ups SET deliveries = ?, due_at = ?, state = ?, sent = ? WHERE notification_id = ? AND kind = ?
        """
}
