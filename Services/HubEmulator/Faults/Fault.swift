import HTTPTypes

/// A fault to inject: which requests it is for, and what happens to them.
struct Fault: Equatable, Sendable {
    /// What the client gets to see of a request that a fault hits.
    enum Answer: Equatable, Sendable {
        /// As without the fault.
        case usual
        case status(Int)
        /// The connection is cut.
        case reset
        /// Nothing for so long, then the connection is cut.
        case silence(milliseconds: Int)
    }

    /// Given by the table.
    var id = 0

    // Which requests.

    /// Nil: every platform.
    var platform: NotificationFormat?
    /// Nil: all operations.
    var operation: Operation?
    /// In lower case; a send matches that names the tag in its expression, a registration that has it. Nil: all.
    var tag: String?
    /// The share of requests it is for, 0 to 1.
    var rate = 1.0
    /// How many requests are left for it; nil without limit.
    var count: Int?
    /// From when on, in milliseconds after it was set.
    var startMilliseconds = 0
    /// For how long from then on; nil without end.
    var durationMilliseconds: Int?
    /// Makes the draws of `rate` repeatable.
    var seed: UInt64?

    // What happens.

    var latencyMilliseconds = 0
    var answer = Answer.usual
    /// Whether the hub takes the request before the answer goes wrong.
    var isAccepted = false
    /// Taken, answered as usual, and lost.
    var isSwallowed = false
    /// What becomes of it at the devices instead of success; it is not delivered.
    var outcome: DeliveryOutcome?
    /// Seconds, for the `Retry-After` header; none when nil.
    var retryAfter: Int?
    /// Refuse what is over a tier's sends a minute.
    var tier: ThrottleTier?

    /// How many requests it has hit.
    var hits = 0

    func applies(to operation: Operation, platform: NotificationFormat?, tags: () -> [String]) -> Bool {
        (self.operation?.covers(operation) ?? true) && (self.platform == nil || self.platform == platform)
            && (tag.map { tags().contains($0) } ?? true)
    }

    /// Whether the answer is another than usual, so that no second fault may give one.
    var decidesAnswer: Bool { answer != .usual }
    /// Whether it decides what becomes of the notification.
    var decidesFate: Bool { isSwallowed || outcome != nil }

    /// The error that the hub answers with; nil when it does not answer one.
    var error: HubError? {
        guard case .status(let status) = answer else { return nil }
        return HubError(.init(code: status), detail: Self.detail(of: status), retryAfterSeconds: retryAfter)
    }

    private static func detail(of status: Int) -> String? {
        switch status {
        case 401: TokenFault.invalidSignature.detail
        case 403: nil
        case 404: HubError.unknownHub.detail
        case 410: "The registration id may not be used any more."
        case 412: HubError.entityTagMismatch.detail
        case 413: HubError.bodyTooLarge.detail
        case 429: "The request was throttled. SubCode=42901."
        case 500: "The server was unable to process the request."
        case 503: "The service is not available."
        default: "A fault of status \(status) was injected."
        }
    }
}
