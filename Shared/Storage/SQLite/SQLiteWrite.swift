import Foundation
import GRDB
import SecurePushCore

/// One change of the database. Changes are committed in groups.
enum SQLiteWrite: Sendable {
    case append(SealedNotification)
    case appendOnce([SealedNotification], IdempotentRequest, now: Timestamp)
    case markRead(NotificationID, Timestamp)
    case markShown(NotificationID, Timestamp)
    case revoke(NotificationID, sender: String, Timestamp)
    case claim(NotificationID, isFirst: Bool, now: Timestamp)
    case enter(NotificationID, now: Timestamp)
    case record(DispatchOutcome)
    case abandon(NotificationID)
    case reopen(NotificationReplay.Change, now: Timestamp)
    case lease(SQLiteLease)
    case confirm(NotificationID, until: Timestamp)
    case silentPush(SQLiteSilentChange)
    case purge(SQLitePurge)
    case followUp(SQLiteFollowUpChange)
    case work(SQLiteWork)
    case outcome(SQLiteOutcomeChange)

    /// The result of a change.
    enum Output: Sendable {
        case done
        /// `nil` for an unknown ID; a failure for a row that cannot be read, which does not roll back the transaction.
        case claimed(Result<SQLiteClaim, StorageError>?)
        /// Whether its attempt was still the newest.
        case recorded(Bool)
        case leased(PublishedLease)
        /// `nil` if the record has changed since it was read.
        case reopened(NotificationID?)
        /// The earlier request with this key; `nil` if the notifications were stored.
        case earlier(IdempotentRequest?)
        /// Whether the sender has such a notification.
        case revoked(Bool)
        case purged(SQLitePurge.Outcome)
        /// The answer to a request; `nil` for a release.
        case silentPush(SilentPushAdmission?)
        case leasedFollowUps([OutboxEntry])
        /// `nil` if it is not due any more; a failure for a row that cannot be read.
        case claimedFollowUp(Result<DispatchPlan, StorageError>?)
        /// The stored places; `nil` if another process has the lease, and after storing outcomes.
        case outcomeCursors(String?)
    }

    /// The name of the case, with that of the change in it: each is a statement of its own; see ``FailedWork``.
    var kind: String {
        if case .work(let work) = self { return work.kind }
        if case .purge(let purge) = self { return "purge.\(purge.kind)" }
        guard let child = Mirror(reflecting: self).children.first, let label = child.label else { return "write" }
        let inner = Mirror(reflecting: child.value)
        guard inner.displayStyle == .enum, let name = inner.children.first?.label else { return label }
        return "\(label).\(name)"
    }

    /// How many changes this counts as when groups are formed.
    var weight: Int {
        switch self {
        case .append(let notification): notification.commitWeight
        case .appendOnce(let notifications, _, _): notifications.reduce(1) { $0 + $1.commitWeight }
        case .purge(let purge): purge.limit
        case .lease(let lease): lease.limit
        case .followUp(.lease(let limit, now: _)): limit
        case .work(let work): work.weight
        default: 1
        }
    }
}

extension SQLiteWrite {
    /// The approximate memory while it waits; see ``GroupCommitQueue/Capacity``.
    var heldBytes: Int {
        switch self {
        case .append(let sealed): sealed.heldBytes
        case .appendOnce(let notifications, let request, _):
            notifications.reduce(512 + request.answer.body.count) { $0 + $1.heldBytes }
        case .record(let outcome): 256 + outcome.deliveries.count * 256
        case .followUp(.record(let outcome)): 256 + outcome.deliveries.count * 256
        case .outcome(.record(let outcome)): 256 + outcome.deliveries.count * 256
        case .work(let work): work.bytes
        case .reopen(let change, _): 256 + change.new.utf8.count + (change.old?.utf8.count ?? 0)
        default: 512
        }
    }
}

extension SQLiteWrite {
    /// Applies the change within a transaction. Statements are prepared once per connection.
    ///
    /// - Parameter withdrawals: see ``StorageConfiguration/withdrawals``.
    func execute(_ db: Database, withdrawals: WithdrawalMode = .revoked) throws -> Output {
        switch self {
        case .append(let sealed):
            try SQLiteWrite.append(sealed, db)
        case .markRead(let id, let time):
            try SQLiteWrite.markRead(id, at: time, db)
        case .markShown(let id, let time):
            try db.cachedStatement(sql: "UPDATE notifications SET shown_at = ? WHERE id = ? AND shown_at IS NULL")
                .execute(arguments: [time.milliseconds, id.data])
        case .claim(let id, let isFirst, let now):
            return .claimed(try SQLiteClaim.make(id, isFirst: isFirst, now: now, db))
        case .enter(let id, let now):
            try db.cachedStatement(sql: SQLiteClaim.enter).execute(arguments: [now.milliseconds, id.data])
        case .record(let outcome):
            guard try SQLiteWrite.record(outcome, db) else { return .recorded(false) }
            try SQLiteFollowUpChange.follow(outcome, withdrawals, db)
            return .recorded(true)
        case .abandon(let id):
            try db.cachedStatement(sql: "DELETE FROM outbox WHERE notification_id = ?").execute(arguments: [id.data])
        case .reopen(let change, let now):
            return .reopened(try change.execute(now: now, db))
        case .lease(let lease):
            return .leased(try lease.execute(db))
        case .confirm(let id, let until):
            try db.cachedStatement(sql: SQLiteWrite.confirm).execute(arguments: [until.milliseconds, id.data])
        case .silentPush(let change):
            return .silentPush(try change.execute(db))
        case .appendOnce(let notifications, let request, let now):
            return .earlier(try SQLiteWrite.append(notifications, once: request, now: now, db))
        case .revoke(let id, let sender, let now):
            return .revoked(try SQLiteWrite.revoke(id, sender: sender, now: now, db))
        case .purge(let purge):
            return .purged(try purge.execute(db))
        case .followUp(let change):
            return try change.execute(db)
        case .work(let work):
            try work.body(SQLiteTransaction(db))
        case .outcome(let change):
            return .outcomeCursors(try change.execute(db))
        }
        return .done
    }

    /// Also withdraws a push that a dispatcher with `DISPATCH_WITHDRAW=read` has sent.
    private static func markRead(_ id: NotificationID, at time: Timestamp, _ db: Database) throws {
        let note = try db.cachedStatement(sql: noteRead)
        // No row if it was read before.
        let isWithdrawn = try Bool.fetchOne(note, arguments: [time.milliseconds, id.data])
        if isWithdrawn == true { try SQLiteFollowUpChange.withdraw(id, now: time, db) }
    }

    static let noteRead = """
        UPDATE notifications SET read_at = ? WHERE id = ? AND read_at IS NULL
        RETURNING instr(coalesce(deliveries, ''), '\(StorageCoding.withdrawnOnRead)') > 0
        """

    /// - Returns: whether its attempt was still the newest.
    private static func record(_ outcome: DispatchOutcome, _ db: Database) throws -> Bool {
        try db.cachedStatement(sql: recordOutcome).execute(arguments: [
            outcome.status.rawValue, StorageCoding.encode(outcome.deliveries), outcome.attempt, outcome.id.data,
            outcome.attempt,
        ])
        guard db.changesCount > 0 else { return false }
        if let due = outcome.republishAt {
            try enter(outcome.id, due: due, db)
        } else if let due = outcome.dueAgain {
            try postpone(outcome.id, until: due, db)
        } else if outcome.isFinal {
            try db.cachedStatement(sql: "DELETE FROM outbox WHERE notification_id = ?")
                .execute(arguments: [outcome.id.data])
        }
        return true
    }

    private static let recordOutcome = """
        UPDATE notifications SET status = ?, deliveries = ?, recorded_attempt = ? WHERE id = ? AND attempt = ?
        """

    /// Usually the dispatcher was faster: then the row is gone and nothing is written.
    static let confirm = """
        UPDATE outbox SET due_at = \(SQLiteSchema.never), republish_at = ?
        WHERE notification_id = ? AND republish_at IS NULL
        """

    /// Adds a notification to the outbox as published.
    static func enter(_ id: NotificationID, due: Timestamp, _ db: Database) throws {
        try db.cachedStatement(sql: enterPublished).execute(arguments: [due.milliseconds, id.data])
    }

    static let enterPublished = """
        INSERT INTO outbox (notification_id, due_at, republish_at, traceparent)
        SELECT id, \(SQLiteSchema.never), ?, traceparent FROM notifications WHERE id = ?
        ON CONFLICT (notification_id) DO UPDATE SET due_at = excluded.due_at, republish_at = excluded.republish_at
        """

    /// An existing notification is not changed and gets no second outbox entry.
    static func append(_ sealed: SealedNotification, _ db: Database) throws {
        let new = sealed.notification
        let id = new.id.data
        try db.cachedStatement(sql: insertNotification).execute(arguments: [
            id, new.sender, new.recipient.text, new.createdAt.milliseconds, new.expiresAt.milliseconds,
            new.notBefore?.milliseconds, new.presentation == .alert ? 1 : 0, new.alert?.title, new.alert?.body,
            new.platforms.map(StorageCoding.encode(platforms:)), new.collapseKey, new.priority?.code,
            new.traceparent, new.expiryBoundsPush, StorageCoding.encode(remind: new.remind),
            sealed.claimsFirstAttempt ? 1 : 0,
        ])
        guard db.changesCount > 0 else { return }
        try db.cachedStatement(sql: insertPayload).execute(arguments: [
            id, sealed.payload.keyID, Data(sealed.payload.bytes), new.expiresAt.milliseconds,
        ])
        try db.cachedStatement(sql: "INSERT INTO outbox (notification_id, due_at, traceparent) VALUES (?, ?, ?)")
            .execute(arguments: [id, OutboxPolicy.due(of: new).milliseconds, new.traceparent])
    }

    private static let insertNotification = """
        INSERT INTO notifications (
            id, sender, recipient, created_at, expires_at, not_before, presentation, alert_title, alert_body, platforms,
            collapse_key, priority, traceparent, bounds_push, remind, attempt
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
        """

    private static let insertPayload =
        "INSERT INTO payloads (notification_id, key_id, sealed, purge_at) VALUES (?, ?, ?, ?)"
}

extension SQLiteWrite {
    /// The writer's lock is held from the lookup of the key to the commit, so no other process can interfere.
    static func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp, _ db: Database
    ) throws -> IdempotentRequest? {
        if let earlier = try IdempotentRequest.fetch(request.key, now: now, db) {
            // The same request again means that its caller retries because the first result was lost.
            return earlier == request ? nil : earlier
        }
        try db.cachedStatement(sql: saveKey).execute(arguments: [
            request.key.sender, request.key.value, request.key.line, Data(request.fingerprint),
            request.answer.location, Data(request.answer.body), request.expiresAt.milliseconds,
        ])
        for notification in notifications { try append(notification, db) }
        return nil
    }

    /// An expired key may still be there.
    static let saveKey = """
        INSERT INTO idempotency_keys (sender, value, line, fingerprint, location, body, expires_at)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (sender, value, line) DO UPDATE SET fingerprint = excluded.fingerprint,
            location = excluded.location, body = excluded.body, expires_at = excluded.expires_at
        """

    /// - Returns: whether the sender has such a notification.
    static func revoke(
        _ id: NotificationID, sender: String, now: Timestamp, _ db: Database
    ) throws -> Bool {
        let note = try db.cachedStatement(sql: noteRevocation)
        guard let row = try Row.fetchOne(note, arguments: [now.milliseconds, id.data, sender]) else { return false }
        let expiresAt: Int64 = row[0]
        let removeAt = Timestamp(milliseconds: expiresAt) + RetentionPolicy.tombstone
        try db.cachedStatement(sql: destroyPayload).execute(arguments: [removeAt.milliseconds, id.data])
        try db.cachedStatement(sql: "DELETE FROM outbox WHERE notification_id = ?").execute(arguments: [id.data])
        let revokedAt: Int64 = row[1]
        // Only the call that has set the time withdraws.
        if revokedAt == now.milliseconds { try SQLiteFollowUpChange.withdraw(id, now: now, db) }
        return true
    }

    static let noteRevocation = """
        UPDATE notifications SET revoked_at = coalesce(revoked_at, ?) WHERE id = ? AND sender = ?
        RETURNING expires_at, revoked_at
        """

    static let destroyPayload = """
        UPDATE payloads SET sealed = NULL, purge_at = ? WHERE notification_id = ? AND sealed IS NOT NULL
        """
}

extension IdempotentRequest {
    /// The unexpired request with this key.
    static func fetch(_ key: Key, now: Timestamp, _ db: Database) throws -> IdempotentRequest? {
        let statement = try db.cachedStatement(sql: find)
        let arguments: StatementArguments = [key.sender, key.value, key.line, now.milliseconds]
        guard let row = try Row.fetchOne(statement, arguments: arguments) else { return nil }
        return IdempotentRequest(
            key: key, fingerprint: try row.bytes(0, column: "fingerprint"),
            answer: Answer(location: row[1], body: try row.bytes(2, column: "body")),
            expiresAt: row.timestamp(3) ?? now)
    }

    static let find = """
        SELECT fingerprint, location, body, expires_at FROM idempotency_keys
        WHERE sender = ? AND value = ? AND line = ? AND expires_at > ?
        """
}
