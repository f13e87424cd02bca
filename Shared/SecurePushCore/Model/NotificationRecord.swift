/// What a sender may know of a notification: everything but its payload.
public struct NotificationRecord: Sendable, Hashable {
    public var id: NotificationID
    public var recipient: UserName
    public var createdAt: Timestamp
    public var expiresAt: Timestamp
    public var notBefore: Timestamp?
    /// The platforms asked for; `nil` for all that are served (`HUB_PLATFORMS`). See ``Notification/platforms``.
    public var platforms: [Platform]?
    /// How far dispatching has come.
    public var dispatchStatus: DispatchStatus
    public var deliveries: [Delivery]
    public var readAt: Timestamp?
    public var revokedAt: Timestamp?

    public init(
        id: NotificationID, recipient: UserName, createdAt: Timestamp, expiresAt: Timestamp,
        notBefore: Timestamp? = nil, platforms: [Platform]? = nil, dispatchStatus: DispatchStatus,
        deliveries: [Delivery] = [], readAt: Timestamp? = nil, revokedAt: Timestamp? = nil
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
    }

    /// The one word that says where it stands at `now`.
    public func status(at now: Timestamp) -> NotificationStatus {
        if revokedAt != nil { return .revoked }
        if readAt != nil { return .read }
        if expiresAt <= now { return .expired }
        return NotificationStatus(dispatchStatus)
    }
}

/// Where a notification stands, as a sender is told: how far dispatching has come, unless something final outweighs it:
/// first revoked, then read, then expired.
public enum NotificationStatus: String, Sendable, CaseIterable {
    case accepted
    case queued
    case dispatched
    case partial
    case failed
    case read
    case expired
    case revoked

    public init(_ status: DispatchStatus) {
        switch status {
        case .accepted: self = .accepted
        case .queued: self = .queued
        case .dispatched: self = .dispatched
        case .partial: self = .partial
        case .failed: self = .failed
        }
    }

    /// The stage of dispatching that this is; `nil` for what outweighs it.
    public var dispatchStatus: DispatchStatus? {
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

/// Which of a sender's notifications are asked for.
public struct NotificationQuery: Sendable, Hashable {
    public var sender: String
    public var recipient: UserName?
    public var status: NotificationStatus?
    /// Only older ones than this.
    public var before: NotificationID?
    public var limit: Int

    public init(
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
public struct NotificationPage: Sendable, Hashable {
    public var records: [NotificationRecord]
    /// Where the next page begins (``NotificationQuery/before``); `nil` when there is nothing older. A page may hold
    /// fewer than its limit, or nothing, and still have a next one: the store looks through a bounded number of rows.
    public var next: NotificationID?

    public init(records: [NotificationRecord], next: NotificationID?) {
        self.records = records
        self.next = next
    }
}
