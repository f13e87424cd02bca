/// Where a notification stands on one platform.
public enum DeliveryState: String, Sendable, CaseIterable {
    /// Not yet tried.
    case pending
    /// Tried and failed; another try is due.
    case retrying
    /// The hub has taken it.
    case sent
    /// Given up: refused for good, or out of attempts.
    case dead
    /// Not to be sent: expired or revoked before its turn.
    case skipped

    /// Whether nothing more will be done.
    public var isSettled: Bool { self == .sent || self == .dead || self == .skipped }
}

/// The record of a notification on one platform.
public struct Delivery: Sendable, Hashable {
    public var platform: Platform
    public var state: DeliveryState
    /// Requests made to the hub.
    public var attempts: Int
    /// Requests that the hub may have taken though no answer of it is on record: the time was up, the connection broke,
    /// or the dispatcher died before it had stored the outcome. Only such a request may be followed by a second push.
    public var unanswered: Int
    /// The hub's own ID of the message, where its tier gives one.
    public var hubMessageID: String?
    /// Why the last try failed; never anything of the payload.
    public var error: String?
    public var updatedAt: Timestamp

    public init(
        platform: Platform, state: DeliveryState, attempts: Int = 0, unanswered: Int = 0, hubMessageID: String? = nil,
        error: String? = nil, updatedAt: Timestamp
    ) {
        self.platform = platform
        self.state = state
        self.attempts = attempts
        self.unanswered = unanswered
        self.hubMessageID = hubMessageID
        self.error = error
        self.updatedAt = updatedAt
    }
}

/// How far dispatching has come, as the store keeps it; reading, expiry and revocation are kept beside it.
public enum DispatchStatus: Int, Sendable, CaseIterable {
    /// Durable; the broker has not confirmed its ID yet.
    case accepted = 0
    /// With the broker or a dispatcher: some platform is still owed.
    case queued = 1
    /// Every platform took it or was skipped; it may be that all were skipped.
    case dispatched = 2
    /// Some platforms took it, others are dead.
    case partial = 3
    /// No platform took it.
    case failed = 4

    /// The status that deliveries add up to.
    public init(_ deliveries: [Delivery]) {
        if deliveries.contains(where: { !$0.state.isSettled }) {
            self = .queued
        } else if !deliveries.contains(where: { $0.state == .dead }) {
            self = .dispatched
        } else {
            self = deliveries.contains { $0.state == .sent } ? .partial : .failed
        }
    }
}
