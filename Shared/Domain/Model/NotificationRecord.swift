package import Foundations

/// Everything that a sender may know about a notification: all but its payload.
package struct NotificationRecord: Sendable, Hashable {
    package var id: NotificationID
    package var recipient: UserName
    /// When it was accepted.
    package var createdAt: Timestamp
    package var expiresAt: Timestamp
    /// It is not sent before this time.
    package var notBefore: Timestamp?
    /// The requested platforms; `nil` for all that are served (`HUB_PLATFORMS`). See ``Notification/platforms``.
    package var platforms: [Platform]?
    package var dispatchStatus: DispatchStatus
    package var deliveries: [Delivery]
    /// When a device first read it.
    package var readAt: Timestamp?
    /// When the sender revoked it.
    package var revokedAt: Timestamp?
    /// Its reminders; `nil` if the sender asked for none, and in lists.
    package var reminders: ReminderProgress?
    /// When a device first reported that it has shown it.
    package var shownAt: Timestamp?
    /// How its question ended; `nil` if it has none or nobody has answered, and in lists.
    package var answer: AnswerResult?

    package init(
        id: NotificationID, recipient: UserName, createdAt: Timestamp, expiresAt: Timestamp,
        notBefore: Timestamp? = nil, platforms: [Platform]? = nil, dispatchStatus: DispatchStatus,
        deliveries: [Delivery] = [], readAt: Timestamp? = nil, revokedAt: Timestamp? = nil,
        reminders: ReminderProgress? = nil, shownAt: Timestamp? = nil, answer: AnswerResult? = nil
    ) {
        self.id = id
        self.recipient = recipient
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.platforms = platforms
        self.dispatchStatus = dispatchStatus
        self.deliveries = deliveries
        self.readAt = readAt
        self.revokedAt = revokedAt
        self.reminders = reminders
        self.shownAt = shownAt
        self.answer = answer
    }

    /// The status at `now`.
    package func status(at now: Timestamp) -> NotificationStatus {
        if revokedAt != nil { return .revoked }
        if readAt != nil { return .read }
        if expiresAt <= now { return .expired }
        return NotificationStatus(dispatchStatus)
    }
}

/// The status of a notification, as a sender sees it. Precedence: revoked, read, expired, then the progress of
/// dispatching.
package enum NotificationStatus: String, Sendable, CaseIterable {
    case accepted
    case queued
    case dispatched
    case partial
    case failed
    case read
    case expired
    case revoked

    /// The status of a notification that is neither revoked nor read nor expired.
    package init(_ status: DispatchStatus) {
        switch status {
        case .accepted: self = .accepted
        case .queued: self = .queued
        case .dispatched: self = .dispatched
        case .partial: self = .partial
        case .failed: self = .failed
        }
    }

    /// The progress of dispatching that this is; `nil` for `read`, `expired` and `revoked`.
    package var dispatchStatus: DispatchStatus? {
        switch self {
        case .accepted: .accepted
        case .queued: .queued
        case .dispatched: .dispatched
        case .partial: .partial
        case .failed: .failed
        case .read, .expired, .revoked: nil
        }
    }
}

/// A query for a sender's notifications.
package struct NotificationQuery: Sendable, Hashable {
    package var sender: String
    package var recipient: UserName?
    package var status: NotificationStatus?
    /// Only notifications that are older than this one.
    package var before: NotificationID?
    package var limit: Int

    package init(
        sender: String, recipient: UserName? = nil, status: NotificationStatus? = nil, before: NotificationID? = nil,
        limit: Int = 100
    ) {
        self.sender = sender
        self.recipient = recipient
        self.status = status
        self.before = before
        self.limit = limit
    }
}

/// A page of a sender's notifications, newest first.
package struct NotificationPage: Sendable, Hashable {
    package var records: [NotificationRecord]
    /// Where the next page begins (``NotificationQuery/before``); `nil` if there is nothing older. A page may have
    /// fewer records than its limit, or none, and still have a next page: the store examines a bounded number of rows.
    package var next: NotificationID?

    package init(records: [NotificationRecord], next: NotificationID?) {
        self.records = records
        self.next = next
    }
}

/// The result of a request to send a dead notification again.
package enum ReplayDecision: Sendable, Hashable {
    /// These platforms are owed again. Empty if the record does not say which; a dispatcher finds out.
    case owed([Platform])
    /// Nothing is owed: no platform that the dead letter names is dead.
    case settled
    case expired
    /// The sender has revoked the notification.
    case revoked
    /// This program cannot read the record.
    case unreadable
}

extension NotificationRecord {
    /// Decides about a sender's request to send a notification again where it failed: as ``reopening(_:now:)`` with
    /// every platform that is dead, including those where the hub refused it for good.
    ///
    /// - Returns: the decision, and the deliveries after it. Nothing is owed if no platform is dead.
    package func resending(now: Timestamp) -> (result: ReplayDecision, deliveries: [Delivery]) {
        let dead = deliveries.filter { $0.state == .dead }.map(\.platform)
        if dead.isEmpty && revokedAt == nil && expiresAt > now { return (.settled, deliveries) }
        return reopening(dead, now: now)
    }

    /// Decides about an operator's request to send a dead notification again.
    ///
    /// The platforms that the dead letter names become pending with no attempts if they are dead or still owed. The
    /// others stay as they are.
    ///
    /// - Parameter named: the platforms that the dead letter names. Empty for a dead letter of the broker itself, which
    ///   names none: then every platform that is owed begins again.
    /// - Returns: the decision, and the deliveries after it.
    package func reopening(_ named: [Platform], now: Timestamp) -> (result: ReplayDecision, deliveries: [Delivery]) {
        if revokedAt != nil { return (.revoked, deliveries) }
        if expiresAt <= now { return (.expired, deliveries) }
        let reopened = deliveries.map { delivery in
            let isNamed = named.contains(delivery.platform)
            let isReopened = delivery.state.isSettled ? delivery.state == .dead && isNamed : isNamed || named.isEmpty
            guard isReopened else { return delivery }
            // The hub may have accepted earlier requests, which the device then shows in addition.
            return Delivery(
                platform: delivery.platform, state: .pending, unanswered: delivery.unanswered, updatedAt: now)
        }
        let owed = reopened.filter { !$0.state.isSettled }.map(\.platform)
        if named.isEmpty {
            let isUntried = dispatchStatus == .accepted || dispatchStatus == .queued
            return (owed.isEmpty && !isUntried ? .settled : .owed([]), reopened)
        }
        let untried = named.filter { platform in !reopened.contains { $0.platform == platform } }
        return (owed.isEmpty && untried.isEmpty ? .settled : .owed(owed + untried), reopened)
    }
}
