/// A notification as accepted from a sender, without its payload: what is needed to wake the recipient's devices.
public struct Notification: Sendable, Hashable {
    public var id: NotificationID
    /// The name of the API key that sent it, or `user:NAME` for a user's own "Send push".
    public var sender: String
    public var recipient: UserName
    public var presentation: Presentation
    /// The generic text of an alert; `nil` shows ``AlertText/generic``.
    public var alert: AlertText?
    /// The platforms to wake; `nil` for all that the dispatcher is set up for (`HUB_PLATFORMS`).
    public var platforms: [Platform]?
    public var createdAt: Timestamp
    /// Not sent and not readable from this time on.
    public var expiresAt: Timestamp
    /// Whether the sender set the expiry, so that it bounds the push too (`apns-expiration`, `ttl`, `X-WNS-TTL`); an
    /// expiry that comes of `RETENTION` alone does not.
    public var expiryBoundsPush: Bool
    /// Not sent before this time.
    public var notBefore: Timestamp?
    /// At most 64 bytes; a later push with the same key replaces an earlier one on the device.
    public var collapseKey: String?
    public var priority: Priority?
    /// W3C Trace Context, as the sender gave it or as it was made at acceptance.
    public var traceparent: String?

    public init(
        id: NotificationID = NotificationID(), sender: String, recipient: UserName,
        presentation: Presentation = .silent, alert: AlertText? = nil, platforms: [Platform]? = nil,
        createdAt: Timestamp = .now, expiresAt: Timestamp, expiryBoundsPush: Bool = false, notBefore: Timestamp? = nil,
        collapseKey: String? = nil, priority: Priority? = nil, traceparent: String? = nil
    ) {
        self.id = id
        self.sender = sender
        self.recipient = recipient
        self.presentation = presentation
        self.alert = alert
        self.platforms = platforms
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.expiryBoundsPush = expiryBoundsPush
        self.notBefore = notBefore
        self.collapseKey = collapseKey
        self.priority = priority
        self.traceparent = traceparent
    }
}

/// A notification and its sealed payload: what one `append` makes durable.
public struct SealedNotification: Sendable, Hashable {
    public var notification: Notification
    public var payload: SealedPayload

    public init(notification: Notification, payload: SealedPayload) {
        self.notification = notification
        self.payload = payload
    }
}

/// A payload sealed with AES-256-GCM: nonce (12 bytes), ciphertext, tag (16 bytes), and the name of the key.
public struct SealedPayload: Sendable, Hashable {
    public var keyID: String
    public var bytes: [UInt8]

    public init(keyID: String, bytes: [UInt8]) {
        self.keyID = keyID
        self.bytes = bytes
    }
}
