import Foundations

/// The meaning of a response of WNS, which has all in its status and headers.
struct WNSAnswer: Sendable {
    let result: PushResult
    /// Whether another access token may help.
    let refusesToken: Bool

    init(_ response: PushHTTPResponse, now: Timestamp) {
        let status = response.status
        let wait = ["x-wns-continue-after", "retry-after"].lazy.compactMap { response[$0] }.first
            .flatMap { Duration(retryAfter: $0, now: now) }
        let answer: PushAnswer
        switch status {
        case 200...299: answer = Self.taken(response["x-wns-status"] ?? response["x-wns-notificationstatus"])
        case 401: answer = .channelRefused
        case 403: answer = .wrongSender
        case 404: answer = .wrongAddress
        case 406, 429: answer = .throttled(after: wait)
        case 410: answer = .gone(since: nil)
        case 413: answer = .tooLarge
        case 408, 500...599: answer = .failed(after: wait)
        default: answer = .invalid
        }
        let reason = PushReason.text(response["x-wns-error-description"], status: status)
        result = PushResult(answer, reason: answer == .accepted ? "" : reason, status: status)
        refusesToken = status == 401
    }

    /// WNS also answers 200 if it drops a push.
    private static func taken(_ status: String?) -> PushAnswer {
        switch status?.lowercased() {
        case "dropped": .dropped
        case "channelthrottled": .channelThrottled
        default: .accepted
        }
    }
}
