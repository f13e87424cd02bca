import SecurePushCore

/// A request whose notifications are made and sealed: what the store is handed, and what the sender is answered.
struct SealedRequest: Sendable {
    let notifications: [SealedNotification]
    let answer: IdempotentRequest.Answer
}

/// Where a request comes from.
struct RequestOrigin: Sendable {
    /// See ``Notification/sender``.
    let sender: String
    /// W3C Trace Context.
    let traceparent: String?
}
