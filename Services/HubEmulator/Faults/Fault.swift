import HTTPTypes

/// A fault to inject: which requests it is for, and what happens to them.
struct Fault: Equatable, Sendable {
    enum Operation: String, CaseIterable, Sendable {
        case send, register
    }

    /// Nil: every platform.
    var platform: NotificationFormat?
    /// Nil: sends and registrations.
    var operation: Operation?
    /// The answer's status; nil when the request is only delayed or cut.
    var status: Int?
    /// The share of requests it is for, 0 to 1.
    var rate = 1.0
    var latencyMilliseconds = 0
    /// Seconds, for the `Retry-After` header; none when nil.
    var retryAfter: Int?
    /// How many requests are left for it; nil without limit.
    var count: Int?
    /// Cut the connection instead of answering.
    var reset = false

    func applies(to operation: Operation, platform: NotificationFormat?) -> Bool {
        (self.operation ?? operation) == operation && (self.platform == nil || self.platform == platform)
    }

    /// The error that the hub answers with; nil when it only delays or cuts.
    var error: HubError? {
        guard let status else { return nil }
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
