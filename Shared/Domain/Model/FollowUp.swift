package import Foundations

/// Work on a notification after its push: a withdrawal or a reminder. A notification has at most one of each kind.
///
/// It is a row in the store that falls due, as an outbox entry is. It has a fence and a record of its own, so it never
/// gets in the way of the dispatching of the notification itself.
package struct FollowUp: Sendable, Hashable {
    package enum Kind: String, Sendable, CaseIterable {
        /// Devices that show the notification remove it.
        case withdrawal = "withdraw"
        /// The push is sent once more.
        case reminder = "remind"
    }

    package var id: NotificationID
    package var kind: Kind

    package init(id: NotificationID, kind: Kind) {
        self.id = id
        self.kind = kind
    }
}

/// When notifications are withdrawn from devices (the dispatcher's `DISPATCH_WITHDRAW`).
package enum WithdrawalMode: String, Sendable, CaseIterable {
    case off
    /// When the sender revokes the notification.
    case revoked
    /// When the sender revokes the notification, or a device of the user has read it.
    case read

    /// Whether a notification is to be withdrawn.
    package func applies(isRevoked: Bool, isRead: Bool) -> Bool {
        switch self {
        case .off: false
        case .revoked: isRevoked
        case .read: isRevoked || isRead
        }
    }
}

/// The work of a dispatcher for a claimed plan.
package enum DispatchWork: Sendable, Hashable {
    /// The notification's own push.
    case push
    /// Removes the notification from devices.
    case withdrawal
    /// Sends the push once more: the step with this number, from 1.
    case reminder(step: Int)
}

/// The result of one claimed follow-up.
package struct FollowUpOutcome: Sendable, Hashable {
    package var followUp: FollowUp
    /// The number of the claim. The store ignores the outcome if there was a later claim.
    package var attempt: Int
    /// The record of each platform: of all tries of a withdrawal, or of one step of a reminder.
    package var deliveries: [Delivery]
    /// When the platforms that are still owed are tried again; `nil` if they are not.
    package var nextTry: Timestamp?

    package init(followUp: FollowUp, attempt: Int, deliveries: [Delivery], nextTry: Timestamp? = nil) {
        self.followUp = followUp
        self.attempt = attempt
        self.deliveries = deliveries
        self.nextTry = nextTry
    }

    /// Whether a platform has accepted it, in this attempt or an earlier one.
    package var isSent: Bool { deliveries.contains { $0.state == .sent } }
}

/// The result of one claim of several follow-ups.
package typealias FollowUpClaims = Claims<FollowUp>

/// How far the reminders of a notification have come.
package struct ReminderProgress: Sendable, Hashable {
    /// The number of steps that at least one platform has accepted.
    package var sent: Int
    /// When the next one is due; `nil` if there is none.
    package var next: Timestamp?

    package init(sent: Int, next: Timestamp? = nil) {
        self.sent = sent
        self.next = next
    }
}

/// When follow-ups fall due.
package enum FollowUpPolicy {
    /// The number of reminders of a notification.
    package static let reminderCount = 1...5
    /// The time from a push to the next reminder.
    package static let reminderDelay = Duration.seconds(30) ... .seconds(365 * 86_400)
    /// How long a published follow-up waits for its claim before it is published again. Each time doubles it, so that a
    /// long queue in the broker does not fill with copies.
    package static let redelivery = Duration.seconds(30)
    /// How often it doubles: up to 64 minutes.
    package static let maxDoublings = 7

    /// When a follow-up that is published now is published again unless a dispatcher claims it.
    ///
    /// - Parameter published: how often it has been published since it was claimed last.
    package static func publishAgain(now: Timestamp, published: Int) -> Timestamp {
        now + redelivery * (1 << min(max(published, 0), maxDoublings))
    }

    /// When a withdrawal is published again if its dispatcher dies after it has claimed it at `now`.
    package static func claimEnd(now: Timestamp, due: Timestamp) -> Timestamp {
        max(due, now + OutboxPolicy.attemptLimit)
    }

    /// When the reminder after a push is due.
    ///
    /// - Parameters:
    ///   - step: the number of the reminder, from 1.
    ///   - push: the time of the last push.
    /// - Returns: `nil` if there is no such reminder.
    package static func due(step: Int, of remind: [Duration], push: Timestamp) -> Timestamp? {
        remind.indices.contains(step - 1) ? push + remind[step - 1] : nil
    }
}

/// The event for which a follow-up waits. A step of a reminder can be claimed once, after it was published. A
/// withdrawal only needs to know whether it was asked for again while it was claimed.
package enum FollowUpState: Int, Sendable {
    /// It waits for its time. A reminder cannot be claimed: its last step was claimed already.
    case scheduled = 0
    /// It waits for the claim of a new step.
    case published = 1
    /// It waits for another claim: of the same step, which the hub has certainly not accepted everywhere; or of a
    /// withdrawal that a revocation, a read or a later push has asked for again. The outcome of an earlier claim does
    /// not end it then, and the platforms on which that claim has withdrawn the push are not withdrawn again.
    case repeated = 2
}

extension DispatchPlan {
    /// The plan of a claimed follow-up, from the plan of its notification.
    ///
    /// - Parameter revokedAt: when the notification was revoked. Platforms on which the withdrawal for a read was given
    ///   up before are owed that for the revocation.
    package func following(
        _ followUp: FollowUp, attempt: Int, step: Int, deliveries: [Delivery], isRead: Bool, revokedAt: Timestamp?
    ) -> DispatchPlan {
        var plan = self
        plan.work = followUp.kind == .withdrawal ? .withdrawal : .reminder(step: step)
        plan.platforms = self.deliveries.filter { $0.state == .sent }.map(\.platform)
        plan.attempt = attempt
        plan.unrecordedClaims = 0
        plan.deliveries = deliveries
        if followUp.kind == .withdrawal, let revokedAt {
            plan.deliveries.removeAll { $0.state == .dead && $0.updatedAt < revokedAt }
        }
        plan.isRead = isRead
        plan.remind = []
        return plan
    }
}

extension DispatchOutcome {
    /// When the record last changed, if a platform has accepted the push; otherwise `nil`.
    package var acceptedAt: Timestamp? {
        deliveries.contains { $0.state == .sent } ? deliveries.map(\.updatedAt).max() : nil
    }
}

extension NotificationRecord {
    /// Adds the results of the follow-ups.
    ///
    /// - Parameters:
    ///   - withdrawals: the deliveries of the withdrawal.
    ///   - reminders: the number of reminders sent, and when the next is due; `nil` if the sender asked for none.
    package func adding(withdrawals: [Delivery], reminders: (sent: Int, due: Timestamp?)?) -> NotificationRecord {
        var record = self
        for withdrawal in withdrawals where withdrawal.state == .sent {
            for index in record.deliveries.indices where record.deliveries[index].platform == withdrawal.platform {
                record.deliveries[index].withdrawnAt = withdrawal.updatedAt
            }
        }
        if let reminders {
            let isOpen = revokedAt == nil && readAt == nil
            let next = reminders.due.flatMap { isOpen && $0 < expiresAt ? $0 : nil }
            record.reminders = ReminderProgress(sent: reminders.sent, next: next)
        }
        return record
    }
}
