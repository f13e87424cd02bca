/// One native notification for the hub: a format, the tag of the recipient, and the body that carries only the ID.
public struct HubNotification: Sendable, Hashable {
    public var platform: Platform
    /// A tag, already encoded; see ``UserName/tag``.
    public var tag: String
    public var contentType: String
    /// Further headers (`apns-push-type`, `X-WNS-Type`, …), name and value.
    public var headers: [Header]
    public var body: String

    public struct Header: Sendable, Hashable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(platform: Platform, tag: String, contentType: String, headers: [Header], body: String) {
        self.platform = platform
        self.tag = tag
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }
}

/// The hub's answer to one send, classified by what to do next.
public enum SendOutcome: Sendable, Hashable {
    /// 201 or 200: queued by the hub. The ID comes with the Standard tier only.
    case sent(hubMessageID: String?)
    /// 429, or 403 with `Retry-After`: too fast; nothing is wrong with the notification.
    case throttled(retryAfter: Duration?)
    /// 408 or 5xx: the hub does not say that it took it; try again.
    case unavailable(reason: String, retryAfter: Duration?)
    /// Nothing of the request left this process: there was no connection, none was free in time, or the sender stops.
    /// The hub has certainly not taken it; nothing is wrong with the notification.
    case notSent(reason: String)
    /// The request was written and no answer came: may or may not have been queued; try again, with that on record.
    case unanswered(reason: String)
    /// 400, 413 and the like: the same request would fail again. Without a status the request was never written,
    /// because it could not be a valid one.
    case rejected(reason: String, status: Int? = nil)
    /// 401, or 403 without `Retry-After`: the hub does not take our credentials.
    case unauthorized(reason: String)
    /// 404: there is no hub of that name at the endpoint; nothing is wrong with the notification.
    case hubNotFound(reason: String)
}

extension SendOutcome {
    /// The word for it in metrics and logs.
    public var label: String {
        switch self {
        case .sent: "sent"
        case .throttled: "throttled"
        case .unavailable: "unavailable"
        case .notSent: "not_sent"
        case .unanswered: "unanswered"
        case .rejected: "rejected"
        case .unauthorized: "unauthorized"
        case .hubNotFound: "hub_not_found"
        }
    }
}
