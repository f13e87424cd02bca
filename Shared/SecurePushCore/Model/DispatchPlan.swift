/// What a dispatcher needs to wake a recipient's devices, claimed from the store.
///
/// The claim puts an attempt on record before the hub is called; ``attempt`` is its number and fences the outcome, so
/// that a worker that was stopped and woke up late cannot overwrite a later attempt's record.
public struct DispatchPlan: Sendable, Hashable {
    public var id: NotificationID
    public var recipient: UserName
    public var presentation: Presentation
    public var alert: AlertText?
    /// The platforms asked for; `nil` for all that the dispatcher is set up for.
    public var platforms: [Platform]?
    public var expiresAt: Timestamp
    /// Whether the expiry bounds the push too; see ``Notification/expiryBoundsPush``.
    public var expiryBoundsPush: Bool
    public var collapseKey: String?
    public var priority: Priority?
    public var traceparent: String?
    public var isRevoked: Bool
    /// The number of this claim, from 1.
    public var attempt: Int
    /// Earlier claims whose outcome was never recorded: each may have reached the hub.
    public var unrecordedClaims: Int
    /// What earlier attempts recorded; empty at the first.
    public var deliveries: [Delivery]

    public init(
        id: NotificationID, recipient: UserName, presentation: Presentation = .silent, alert: AlertText? = nil,
        platforms: [Platform]? = nil, expiresAt: Timestamp, expiryBoundsPush: Bool = false, collapseKey: String? = nil,
        priority: Priority? = nil, traceparent: String? = nil, isRevoked: Bool = false, attempt: Int = 1,
        unrecordedClaims: Int = 0, deliveries: [Delivery] = []
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
    }
}

extension DispatchPlan {
    /// Until when the vendors' networks may keep the push; `nil` leaves it to them.
    public var pushExpiresAt: Timestamp? { expiryBoundsPush ? expiresAt : nil }
}

/// The answer to one claim of several notifications.
public struct DispatchClaims: Sendable {
    /// What was claimed; an ID that the store does not know is absent.
    public var plans: [NotificationID: DispatchPlan]
    /// The rows that cannot be read, and why; never anything of a payload.
    public var unreadable: [NotificationID: StorageError]

    public init(plans: [NotificationID: DispatchPlan] = [:], unreadable: [NotificationID: StorageError] = [:]) {
        self.plans = plans
        self.unreadable = unreadable
    }

    /// The plan of a notification; `nil` where there is none.
    public subscript(id: NotificationID) -> DispatchPlan? { plans[id] }
}

/// What became of one claimed attempt: the whole record of deliveries, earlier ones included.
public struct DispatchOutcome: Sendable, Hashable {
    public var id: NotificationID
    /// The claim's number; the store ignores the outcome where a later claim was made.
    public var attempt: Int
    public var deliveries: [Delivery]
    /// When what is still owed is to be tried again; `nil` where nothing is.
    public var nextTry: Timestamp?

    public init(id: NotificationID, attempt: Int, deliveries: [Delivery], nextTry: Timestamp? = nil) {
        self.id = id
        self.attempt = attempt
        self.deliveries = deliveries
        self.nextTry = nextTry
    }

    public var status: DispatchStatus { DispatchStatus(deliveries) }

    /// Whether nothing more is to be done for the notification. Not so for an outcome without a next try that leaves a
    /// platform owed: of two messages of one notification, each names what it is about.
    public var isFinal: Bool { nextTry == nil && status != .queued }

    /// When the ID is to be published again if it was lost on its way to the next try.
    public var republishAt: Timestamp? { nextTry.map { $0 + OutboxPolicy.redelivery } }
}
