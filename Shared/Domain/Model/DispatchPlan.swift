package import Foundations

/// Everything that a dispatcher needs to wake a recipient's devices, claimed from the store.
///
/// An attempt is on record before the hub is called, by the claim or since the row was stored
/// (``SealedNotification/claimsFirstAttempt``). ``attempt`` is its number and fences the outcome: a worker
/// that was suspended and resumes late cannot overwrite the record of a later attempt.
package struct DispatchPlan: Sendable, Hashable {
    package var id: NotificationID
    package var recipient: UserName
    package var presentation: Presentation
    /// The generic text of an alert; `nil` shows ``AlertText/generic``.
    package var alert: AlertText?
    /// The requested platforms; `nil` for all that the dispatcher serves.
    package var platforms: [Platform]?
    /// From this time on nothing is sent.
    package var expiresAt: Timestamp
    /// Whether the expiry limits the push too; see ``Notification/expiryBoundsPush``.
    package var expiryBoundsPush: Bool
    /// See ``Notification/collapseKey``.
    package var collapseKey: String?
    /// The urgency for Android devices.
    package var priority: Priority?
    /// See ``Notification/traceparent``.
    package var traceparent: String?
    /// Whether the sender has revoked it.
    package var isRevoked: Bool
    /// Whether a device has read it; only known of a follow-up.
    package var isRead: Bool
    /// The kind of work. A follow-up has its own ``attempt`` and ``deliveries``, and its ``platforms`` are those that
    /// accepted the push.
    package var work: DispatchWork
    /// See ``Notification/remind``; only known of a push.
    package var remind: [Duration]
    /// The number of this claim, from 1.
    package var attempt: Int
    /// The number of earlier claims whose outcome was never recorded. Each may have reached the hub.
    package var unrecordedClaims: Int
    /// The record of earlier attempts; empty at the first.
    package var deliveries: [Delivery]

    package init(
        id: NotificationID, recipient: UserName, presentation: Presentation = .silent, alert: AlertText? = nil,
        platforms: [Platform]? = nil, expiresAt: Timestamp, expiryBoundsPush: Bool = false, collapseKey: String? = nil,
        priority: Priority? = nil, traceparent: String? = nil, isRevoked: Bool = false, attempt: Int = 1,
        unrecordedClaims: Int = 0, deliveries: [Delivery] = [], isRead: Bool = false, work: DispatchWork = .push,
        remind: [Duration] = []
    ) {
        self.id = id
        self.recipient = recipient
        self.presentation = presentation
        self.alert = alert
        self.platforms = platforms
        self.expiresAt = expiresAt
        self.expiryBoundsPush = expiryBoundsPush
        self.collapseKey = collapseKey
        self.priority = priority
        self.traceparent = traceparent
        self.isRevoked = isRevoked
        self.attempt = attempt
        self.unrecordedClaims = unrecordedClaims
        self.deliveries = deliveries
        self.isRead = isRead
        self.work = work
        self.remind = remind
    }

    /// How long the vendors' networks may keep the push; `nil` leaves it to them.
    package var pushExpiresAt: Timestamp? { expiryBoundsPush ? expiresAt : nil }
}

/// The result of one claim of several notifications.
package typealias DispatchClaims = Claims<NotificationID>

/// The result of a claim of notifications, or of their withdrawals and reminders.
package struct Claims<Key: Hashable & Sendable>: Sendable {
    /// The plans of the claimed ones. Unknown ones, and those that are not due any more, are absent.
    package var plans: [Key: DispatchPlan]
    /// The rows that cannot be read, and why; never anything of a payload.
    package var unreadable: [Key: StorageError]
    /// The notifications that are not claimed because their `NotBefore` has not come, with that time.
    package var early: [Key: Timestamp]

    // Inlinable: a claim is on the way of every notification, and generic code of another module is slow.
    @inlinable
    package init(
        plans: [Key: DispatchPlan] = [:], unreadable: [Key: StorageError] = [:], early: [Key: Timestamp] = [:]
    ) {
        self.plans = plans
        self.unreadable = unreadable
        self.early = early
    }

    /// Adds the claims of another statement.
    @inlinable
    package mutating func merge(_ others: Claims) {
        plans.merge(others.plans) { $1 }
        unreadable.merge(others.unreadable) { $1 }
        early.merge(others.early) { $1 }
    }

    @inlinable
    package subscript(key: Key) -> DispatchPlan? { plans[key] }
}

/// The result of one claimed attempt, with the whole record of deliveries.
package struct DispatchOutcome: Sendable, Hashable {
    package var id: NotificationID
    /// The number of the claim. The store ignores the outcome if there was a later claim.
    package var attempt: Int
    /// The record of all deliveries, with those of earlier attempts.
    package var deliveries: [Delivery]
    /// When the platforms that are still owed are tried again; `nil` if they are not.
    package var nextTry: Timestamp?
    /// When this attempt's push was accepted. The delays of the notification's reminders begin then. `nil` if no
    /// platform accepted it in this attempt, or there are no reminders.
    package var pushedAt: Timestamp?
    /// When the ID is to be published again, because it waits for the recipient's next silent push and no message of it
    /// is left in the broker; `nil` otherwise, and always if there is a next try.
    package var dueAgain: Timestamp?

    package init(
        id: NotificationID, attempt: Int, deliveries: [Delivery], nextTry: Timestamp? = nil, dueAgain: Timestamp? = nil,
        pushedAt: Timestamp? = nil
    ) {
        self.id = id
        self.attempt = attempt
        self.deliveries = deliveries
        self.nextTry = nextTry
        self.pushedAt = pushedAt
        self.dueAgain = dueAgain
    }

    package var status: DispatchStatus { DispatchStatus(deliveries) }

    /// Whether the notification needs no more work. An outcome without a next try is not final if it leaves a platform
    /// owed: if a notification has two messages, each handles only the platforms that it names.
    package var isFinal: Bool { nextTry == nil && status != .queued }

    /// When the ID is published again if the broker loses it before the next try.
    package var republishAt: Timestamp? { nextTry.map { $0 + OutboxPolicy.redelivery } }
}

/// The state of a notification on one platform.
package enum DeliveryState: String, Sendable, CaseIterable {
    /// Not yet tried.
    case pending
    /// Tried and failed; another try is due.
    case retrying
    /// The hub has accepted it.
    case sent
    /// Dead-lettered: refused for good, or out of attempts.
    case dead
    /// Not sent, because it had expired, was revoked, or the recipient has no device on the platform.
    case skipped

    /// Whether no more work is due.
    package var isSettled: Bool { self == .sent || self == .dead || self == .skipped }
}

/// The record of a notification on one platform.
package struct Delivery: Sendable, Hashable {
    package var platform: Platform
    package var state: DeliveryState
    /// The number of requests to the hub.
    package var attempts: Int
    /// The number of requests whose result is unknown, because of a timeout, a broken connection, or a dispatcher that
    /// died before it stored the outcome. The hub may have accepted them. Only such a request can lead to a second
    /// push.
    package var unanswered: Int
    /// The hub's ID of the message, if its tier provides one.
    package var hubMessageID: String?
    /// What the hub says became of the message (``MessageOutcome/text``); `nil` if it was not asked, or has not said.
    /// The ``state`` stays ``DeliveryState/sent`` with any outcome.
    package var outcome: String?
    /// Why the last try failed; never anything of the payload.
    package var error: String?
    /// When the record last changed. An ``outcome`` does not count: the time of the send stays.
    package var updatedAt: Timestamp
    /// The notification whose silent push this one shared. The state is ``DeliveryState/sent`` then.
    package var coalescedInto: NotificationID?
    /// The recipient's number of silent pushes when this notification began to wait for the next one; see
    /// ``SilentPushRequest/sequence``.
    package var silentSequence: Int64?
    /// Whether the first read withdraws the push. The dispatcher that sent it had ``WithdrawalMode/read``. Only a
    /// delivery that is ``DeliveryState/sent`` has it.
    package var isWithdrawnOnRead: Bool
    /// When the hub accepted the withdrawal. It is part of a sender's record only: the store keeps it with the
    /// withdrawal.
    package var withdrawnAt: Timestamp?

    package init(
        platform: Platform, state: DeliveryState, attempts: Int = 0, unanswered: Int = 0, hubMessageID: String? = nil,
        error: String? = nil, updatedAt: Timestamp, coalescedInto: NotificationID? = nil, silentSequence: Int64? = nil,
        isWithdrawnOnRead: Bool = false, withdrawnAt: Timestamp? = nil, outcome: String? = nil
    ) {
        self.platform = platform
        self.state = state
        self.attempts = attempts
        self.unanswered = unanswered
        self.hubMessageID = hubMessageID
        self.outcome = outcome
        self.error = error
        self.updatedAt = updatedAt
        self.coalescedInto = coalescedInto
        self.silentSequence = silentSequence
        self.isWithdrawnOnRead = isWithdrawnOnRead
        self.withdrawnAt = withdrawnAt
    }
}

/// The progress of dispatching, as the store keeps it. Reading, expiry and revocation are stored separately.
package enum DispatchStatus: Int, Sendable, CaseIterable {
    /// Stored; the broker has not confirmed the ID yet.
    case accepted = 0
    /// With the broker or a dispatcher: some platform is still owed.
    case queued = 1
    /// Every platform accepted it or was skipped. All of them may have been skipped.
    case dispatched = 2
    /// Some platforms accepted it, others are dead.
    case partial = 3
    /// No platform accepted it.
    case failed = 4

    /// The status that deliveries amount to.
    package init(_ deliveries: [Delivery]) {
        if deliveries.contains(where: { !$0.state.isSettled }) {
            self = .queued
        } else if !deliveries.contains(where: { $0.state == .dead }) {
            self = .dispatched
        } else {
            self = deliveries.contains { $0.state == .sent } ? .partial : .failed
        }
    }
}
