import SecurePushCore

/// What is of interest in the hub's answer to any request.
struct HubAnswer: Sendable, Equatable {
    var status: Int
    /// See ``HubMessageID``.
    var messageID: String?
    /// The header's text.
    var retryAfter: String?
    /// The text of `Date`, read of refusals (401) only.
    var date: String?
    /// The beginning of an error's body, at most ``HubAnswer/maxBody`` bytes.
    var body: [UInt8] = []
    /// Whether the connection can take another request.
    var keepsAlive = true

    static let maxBody = 1024
}

/// What to do next, whatever the request was.
enum HubVerdict: Sendable, Hashable {
    case accepted, throttled, unauthorized, rejected, unavailable
}

extension HubAnswer {
    /// The table of `hub-rest-api`, section 8. A 403 has three meanings; only with `Retry-After` is it throttling.
    var verdict: HubVerdict {
        switch status {
        case 200, 201: .accepted
        case 401: .unauthorized
        case 403: retryAfter == nil ? .unauthorized : .throttled
        case 429: .throttled
        case 300...399, 400, 404, 405, 410, 411, 413, 415: .rejected
        default: .unavailable
        }
    }

    /// The answer to a send, classified by what the dispatcher does next. A 404 to a send says that the hub itself is
    /// not there: a tag without a device is no error (`hub-rest-api`, section 8).
    func outcome(now: Timestamp) -> SendOutcome {
        switch verdict {
        case .accepted: .sent(hubMessageID: messageID)
        case .throttled: .throttled(retryAfter: wait(now: now))
        case .unauthorized: .unauthorized(reason: reason)
        case .rejected where status == 404: .hubNotFound(reason: reason)
        case .rejected: .rejected(reason: reason, status: status)
        case .unavailable: .unavailable(reason: reason, retryAfter: wait(now: now))
        }
    }

    /// The same for what is not a send; `nil` when the hub did what it was asked.
    func error(now: Timestamp) -> PushGatewayError? {
        switch verdict {
        case .accepted: nil
        case .throttled: PushGatewayError(.throttled, reason, retryAfter: wait(now: now))
        case .unauthorized: PushGatewayError(.unauthorized, reason)
        case .rejected: PushGatewayError(.rejected, reason)
        case .unavailable: PushGatewayError(.unavailable, reason, retryAfter: wait(now: now))
        }
    }

    /// The hub's clock, where the answer tells it.
    var hubTime: Timestamp? { date.flatMap { HTTPDate.timestamp($0) } }

    private func wait(now: Timestamp) -> Duration? {
        retryAfter.flatMap { RetryAfter.duration($0, now: now) }
    }
}
