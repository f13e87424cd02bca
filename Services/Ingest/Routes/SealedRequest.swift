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
    /// W3C Trace Context: the sender's own, or else one that is made here.
    let traceparent: String

    /// - Parameter traceparent: the sender's; `nil` makes a new trace.
    init(sender: String, traceparent: String?) {
        self.sender = sender
        self.traceparent = traceparent ?? TraceContext.random().traceparent
    }
}
