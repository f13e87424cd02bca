/// What travels through the broker: an ID, and on a retry what is left to do. Nothing of payload or recipient.
public struct DispatchMessage: Sendable, Hashable {
    /// The numbers that ``attempt`` may have; a message with another is dead-lettered unread.
    public static let attempts = 1...1000
    /// The longest body that is read, in bytes; a longer one is dead-lettered unread. An ID has 36.
    public static let maxBodyBytes = 1024
    /// The longest properties and headers that are read, in bytes as they travel. Our own have less than 1 KiB, those
    /// included that a broker adds to what has waited in a delay queue.
    public static let maxHeaderBytes = 8192

    public var id: NotificationID
    /// The platforms still owed; `nil` on the first way, when all are.
    public var platforms: [Platform]?
    /// The number of the retry, one of ``attempts``; `nil` on the first way.
    public var attempt: Int?
    /// The trace that it belongs to (``TraceContext``). The broker's adapter makes one where there is none.
    public var traceparent: String?

    public init(
        id: NotificationID, platforms: [Platform]? = nil, attempt: Int? = nil, traceparent: String? = nil
    ) {
        self.id = id
        self.platforms = platforms
        self.attempt = attempt
        self.traceparent = traceparent
    }

    /// The number of the retry after this one. It stays at the last of ``attempts``.
    public var nextAttempt: Int {
        min(max(attempt ?? 0, 0), Self.attempts.upperBound - 1) + 1
    }
}

/// Where a message is to go.
public enum DispatchRoute: Sendable, Hashable {
    /// To the dispatchers.
    case dispatch
    /// To the delay queue at this index of `RETRY_DELAYS`, and from there to the dispatchers.
    case retry(delay: Int)
    /// To the dead-letter queue, with the reason in its header.
    case dead(reason: String)
}

/// A message as a dispatcher received it.
public struct DispatchDelivery: Sendable {
    /// The broker's number of the delivery, unique within ``epoch``.
    public var tag: UInt64
    /// The channel the tag belongs to; a settlement of an earlier epoch is void, for the broker delivers again.
    public var epoch: UInt64
    /// The message, or `nil` for one that could not be read (a poison message).
    public var message: DispatchMessage?
    /// Whether the broker has delivered it before.
    public var isRedelivered: Bool

    public init(tag: UInt64, epoch: UInt64, message: DispatchMessage?, isRedelivered: Bool = false) {
        self.tag = tag
        self.epoch = epoch
        self.message = message
        self.isRedelivered = isRedelivered
    }
}
