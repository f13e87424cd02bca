/// A notification as its recipient's device reads it.
public struct StoredNotification: Sendable, Hashable {
    public var id: NotificationID
    public var createdAt: Timestamp
    public var expiresAt: Timestamp
    /// Not there for its recipient before this time.
    public var notBefore: Timestamp?
    /// When a device first read it.
    public var readAt: Timestamp?
    public var isRevoked: Bool
    /// `nil` once revoked or purged.
    public var payload: SealedPayload?
    /// W3C Trace Context, as the sender gave it.
    public var traceparent: String?

    public init(
        id: NotificationID, createdAt: Timestamp, expiresAt: Timestamp, notBefore: Timestamp? = nil,
        readAt: Timestamp?, isRevoked: Bool, payload: SealedPayload?, traceparent: String? = nil
    ) {
        self.id = id
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.notBefore = notBefore
        self.readAt = readAt
        self.isRevoked = isRevoked
        self.payload = payload
        self.traceparent = traceparent
    }
}
