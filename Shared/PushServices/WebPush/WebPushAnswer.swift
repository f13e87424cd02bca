import Foundations

/// The response of a push service for browsers (RFC 8030), and the meaning of the words that the big ones add.
struct WebPushAnswer: Sendable {
    enum Meaning: Sendable, Hashable {
        case end(PushAnswer)
        /// The push service does not take our key for this subscription (401, 403). Another key of ours may fit.
        case keyRefused
        /// The token itself is refused, whatever the subscription (Apple's `BadJwtToken`).
        case tokenRefused
        /// Apple refuses some lengths of `Topic` that RFC 8030 allows.
        case topicRefused
    }

    let meaning: Meaning
    let reason: String

    init(_ response: PushHTTPResponse, now: Timestamp) {
        let object = PushReason.object(in: response.body)
        reason = PushReason.text(Self.words(response, object), status: response.status)
        meaning = Self.meaning(response, reason: object?["reason"]?.text, now: now)
    }

    /// Apple: `{"reason":"BadJwtToken"}`. Mozilla: `{"errno":109,"error":"Unauthorized"}`. Microsoft: a header.
    private static func words(_ response: PushHTTPResponse, _ object: JSONValue?) -> String? {
        if let text = object?["reason"]?.text ?? response["x-wns-error-description"] { return text }
        guard let error = object?["error"]?.text else { return nil }
        guard let number = object?["errno"]?.number, (0..<10_000).contains(number) else { return error }
        return "\(error) (errno \(Int(number)))"
    }

    private static func meaning(_ response: PushHTTPResponse, reason: String?, now: Timestamp) -> Meaning {
        let wait = response["retry-after"].flatMap { Duration(retryAfter: $0, now: now) }
        switch response.status {
        case 200...299: return .end(accepted(response["x-wns-notificationstatus"]))
        case 401, 403: return reason == "BadJwtToken" ? .tokenRefused : .keyRefused
        case 404, 410: return .end(.gone(since: nil))
        case 413: return .end(.tooLarge)
        // 406 is WNS's word for too many requests.
        case 406, 429: return .end(.throttled(after: wait))
        case 408, 500...599: return .end(.failed(after: wait))
        case 400 where reason == "BadWebPushTopic": return .topicRefused
        default: return .end(.invalid)
        }
    }

    /// Microsoft's service says 2xx also where it throws a push away.
    private static func accepted(_ status: String?) -> PushAnswer {
        switch status?.lowercased() {
        case "dropped": .dropped
        case "channelthrottled": .channelThrottled
        default: .accepted
        }
    }
}
