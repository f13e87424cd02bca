import Domain
import Foundations

/// A row of `follow_ups`: what changes of it, and the rules by which it does. The transaction that reads it has locked
/// it.
struct FollowUpRow {
    /// The `due_at` of one that is done. It stays for the status, outside the index.
    static let never = Int64.max

    static let columns =
        "f.notification_id, f.kind, f.due_at, f.state, f.published, f.attempt, f.step, f.deliveries, f.sent"

    let id: NotificationID
    let kind: Int16
    var due: Int64
    private var state: Int
    private var published: Int
    private(set) var attempt: Int
    private(set) var step: Int
    private(set) var deliveries: String?
    private var sent: Int

    init(_ row: inout SQLRow) throws {
        (id, kind, due, state, published) = (try row(), try row(), try row(), try row(), try row())
        (attempt, step, deliveries, sent) = (try row(), try row(), try row(), try row())
    }

    /// `nil` for a kind that only a later version knows.
    var followUp: FollowUp? { FollowUp.Kind(code: kind).map { FollowUp(id: id, kind: $0) } }

    /// Makes it due again unless a dispatcher claims it before.
    mutating func publish(now: Timestamp) {
        due = FollowUpPolicy.publishAgain(now: now, published: published).milliseconds
        published = min(published, 100) + 1
        if state == FollowUpState.scheduled.rawValue { state = FollowUpState.published.rawValue }
    }

    /// Counts the attempt, and uses up the step of a reminder.
    ///
    /// - Returns: whether it can be claimed.
    mutating func claim(_ kind: FollowUp.Kind, _ notification: FollowedNotification, now: Timestamp) -> Bool {
        guard due != Self.never else { return false }
        switch kind {
        case .withdrawal:
            due = FollowUpPolicy.claimEnd(now: now, due: Timestamp(milliseconds: due)).milliseconds
        case .reminder:
            guard state != FollowUpState.scheduled.rawValue, !notification.times.areOver(at: now) else { return false }
            if state == FollowUpState.published.rawValue { (step, deliveries) = (min(step, 1000) + 1, nil) }
            let next = FollowUpPolicy.due(step: step + 1, of: notification.remind, push: now)
            due = next?.milliseconds ?? Self.never
        }
        // A counter at its end must not fail its neighbours.
        attempt = min(max(attempt, 0), Int(Int32.max) - 1) + 1
        (state, published) = (FollowUpState.scheduled.rawValue, 0)
        return true
    }

    /// Stores an outcome, unless there was a later claim.
    ///
    /// A reminder is tried again only if its next step does not come first. The claim of a step has removed the
    /// deliveries of the step before, so the first ones with a platform that accepted it count the step as sent.
    ///
    /// - Returns: whether it was the newest claim's.
    mutating func record(_ outcome: FollowUpOutcome) -> Bool {
        guard attempt == outcome.attempt else { return false }
        let next = outcome.nextTry?.milliseconds
        switch outcome.followUp.kind {
        case .withdrawal:
            // One that was asked for again meanwhile is due already.
            if state != FollowUpState.repeated.rawValue { due = next ?? Self.never }
        case .reminder:
            let wasSent = deliveries?.contains(StorageCoding.sent) ?? false
            if outcome.isSent, !wasSent { sent = min(sent, 1000) + 1 }
            if let next, state == FollowUpState.scheduled.rawValue, next < due {
                (due, state) = (next, FollowUpState.repeated.rawValue)
            }
        }
        deliveries = StorageCoding.encode(outcome.deliveries)
        return true
    }

    /// The condition that selects its row.
    var key: SQL { "notification_id = \(id) AND kind = \(kind)" }

    var update: SQL {
        """
        UPDATE follow_ups SET due_at = \(due), state = \(state), published = \(published), attempt = \(attempt),
            step = \(step), deliveries = \(deliveries), sent = \(sent)
        WHERE \(key)
        """
    }
}

extension FollowUpRow {
    /// Makes a withdrawal. If there is one already, it is due again, and a claim that does not know of the new push or
    /// the revocation does not end it (``FollowUpState/repeated``). It goes only to platforms that have not had it.
    static func withdrawal(of id: NotificationID, now: Timestamp) -> SQL {
        """
        INSERT INTO follow_ups (notification_id, kind, due_at, attempt)
        VALUES (\(id), \(FollowUp.Kind.withdrawal.code), \(now), 1)
        ON CONFLICT (notification_id, kind) DO UPDATE SET due_at = excluded.due_at,
            state = \(FollowUpState.repeated.rawValue), published = 0
        """
    }
}

/// The times of a notification that end its reminders.
struct FollowUpTimes {
    static let columns = "n.expires_at, n.read_at, n.revoked_at"

    /// The three times are in milliseconds, unchecked: one that cannot be read must not fail its neighbours.
    private let expiresAt: Int64
    private let readAt: Int64?
    private let revokedAt: Int64?

    /// `nil` if there is no such notification.
    init?(_ row: inout SQLRow) throws {
        let expiresAt: Int64? = try row()
        (readAt, revokedAt) = (try row(), try row())
        guard let expiresAt else { return nil }
        self.expiresAt = expiresAt
    }

    func areOver(at now: Timestamp) -> Bool { isRead || revokedAt != nil || expiresAt <= now.milliseconds }

    var isRead: Bool { readAt != nil }

    /// - Throws: ``StorageError`` for a time that this program did not write.
    func revocation() throws -> Timestamp? { try revokedAt.map { try Timestamp(stored: $0, column: "revoked_at") } }
}

/// A notification whose follow-ups are claimed.
struct FollowedNotification {
    static let columns = "n.id, \(FollowUpTimes.columns), n.remind, \(DispatchPlan.columns), deliveries"

    let id: NotificationID
    let times: FollowUpTimes
    let remind: [Duration]
    /// A failure for a row that cannot be read.
    let plan: Result<DispatchPlan, any Error>

    init?(_ row: inout SQLRow) throws {
        let id: NotificationID = try row()
        guard let times = try FollowUpTimes(&row) else { return nil }
        (self.id, self.times) = (id, times)
        let remind: String? = try row()
        self.remind = remind.flatMap { try? StorageCoding.decodeRemind($0) } ?? []
        plan = Result {
            var plan = try DispatchPlan(id, &row)
            plan.deliveries = try row.mapIfPresent(StorageCoding.decodeDeliveries) ?? []
            return plan
        }
    }
}
