import Foundations

/// The response of APNs ("Handling notification responses from APNs").
struct APNsAnswer: Sendable {
    enum Meaning: Sendable, Hashable {
        case end(PushAnswer)
        /// APNs closes the connection. It has not processed the push.
        case connectionEnds(PushAnswer)
        /// The authentication token is too old.
        case tokenExpired
        /// APNs has seen more than one new token within 20 minutes.
        case tokenTooNew(PushAnswer)
        /// The key may not push to this topic, or there is no such topic. `Forbidden` names no other reason.
        case topicRefused
        /// The device token is of another app.
        case otherTopic
    }

    let meaning: Meaning
    let reason: String

    init(_ response: PushHTTPResponse, now: Timestamp) {
        if (200...299).contains(response.status) {
            (meaning, reason) = (.end(.accepted), "")
            return
        }
        let object = PushReason.object(in: response.body)
        let word = object?["reason"]?.text
        reason = PushReason.text(word, status: response.status)
        let wait = response["retry-after"].flatMap { Duration(retryAfter: $0, now: now) }
        meaning = Self.meaning(response.status, word, wait, since: Self.time(object?["timestamp"], now: now))
    }

    private static func meaning(_ status: Int, _ word: String?, _ wait: Duration?, since: Timestamp?) -> Meaning {
        switch (status, word) {
        case (400, "BadDeviceToken"): .end(.wrongAddress)
        case (400, "DeviceTokenNotForTopic"): .otherTopic
        case (400, "TopicDisallowed"), (400, "BadTopic"), (400, "MissingTopic"), (403, "Forbidden"): .topicRefused
        case (400, "IdleTimeout"), (503, "Shutdown"): .connectionEnds(.failed(after: wait))
        case (403, "ExpiredProviderToken"): .tokenExpired
        case (401, _), (403, _): .end(.credentialRefused)
        case (410, _): .end(.gone(since: since))
        case (413, _): .end(.tooLarge)
        case (429, "TooManyRequests"): .end(.deviceThrottled(after: wait))
        case (429, "TooManyProviderTokenUpdates"): .tokenTooNew(.throttled(after: wait))
        case (429, _): .end(.throttled(after: wait))
        case (408, _), (500...599, _): .end(.failed(after: wait))
        default: .end(.invalid)
        }
    }

    /// When APNs last saw that the device is gone, in milliseconds. A time in the future would remove devices that
    /// register before it.
    private static func time(_ value: JSONValue?, now: Timestamp) -> Timestamp? {
        guard let number = value?.number, (0...1e15).contains(number) else { return nil }
        return min(Timestamp(milliseconds: Int64(number)), now)
    }

    /// Whether a connection takes no more pushes after a response.
    static func endsConnection(_ response: PushHTTPResponse) -> Bool {
        // The last reason is about the key that the connection has used first.
        let words = [400: "IdleTimeout", 503: "Shutdown", 403: "UnrelatedKeyIdInToken"]
        guard let word = words[response.status] else { return false }
        return PushReason.object(in: response.body)?["reason"]?.text == word
    }
}
