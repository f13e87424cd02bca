/// A notification whose ID is to be published.
public struct OutboxEntry: Sendable, Hashable {
    public var id: NotificationID
    public var traceparent: String?

    public init(id: NotificationID, traceparent: String? = nil) {
        self.id = id
        self.traceparent = traceparent
    }
}

/// How much waits in the outbox to be published.
public struct OutboxBacklog: Sendable, Hashable {
    public var count: Int
    /// The age of the oldest entry that is due, as its ID tells it; `nil` when none is.
    public var oldest: Timestamp?

    public init(count: Int, oldest: Timestamp?) {
        self.count = count
        self.oldest = oldest
    }
}
