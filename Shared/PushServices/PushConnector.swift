package import Foundations

/// A client of one push service with one set of credentials: APNs, FCM, WNS, or the push services of browsers.
///
/// It sends one push to one device, and returns the result. It has no state: the hub does retries, removals of devices
/// and pauses. One conformance suite tests every connector.
package protocol PushConnector: Sendable {
    /// Sends a push, and waits for the answer of the push service.
    ///
    /// It returns by the deadline, and at once when the task is cancelled.
    func push(_ request: PushRequest, deadline: ContinuousClock.Instant) async -> PushResult

    /// Why no device may be registered with an address, in a sentence for the device; `nil` if one may.
    func problem(of address: PushAddress) -> String?

    /// Asks the push service with a device address that cannot exist whether the credentials are good.
    func checkCredentials(deadline: ContinuousClock.Instant) async -> CredentialCheck

    /// Lets pushes in flight end until the deadline, then closes the connections. Pushes after that are not sent.
    func close(deadline: ContinuousClock.Instant) async
}

extension PushConnector {
    /// Only the push service knows.
    package func problem(of address: PushAddress) -> String? { nil }
}

/// One push to one device.
package struct PushRequest: Sendable {
    package var address: PushAddress
    /// JSON for APNs and FCM, XML or any bytes for WNS, and any bytes for Web Push, which the connector encrypts.
    package var body: [UInt8]
    /// The native headers of the send, with names in lower case, such as `apns-collapse-id`, `ttl` or `x-wns-type`.
    package var headers: [String: String]
    /// The push is not sent after this time.
    package var expiresAt: Timestamp?
    /// The ``PushResult/keyUsed`` of the last push that was accepted for this device. It is tried first.
    package var keyHint: String?

    package init(
        address: PushAddress, body: [UInt8], headers: [String: String] = [:], expiresAt: Timestamp? = nil,
        keyHint: String? = nil
    ) {
        self.address = address
        self.body = body
        self.headers = headers
        self.expiresAt = expiresAt
        self.keyHint = keyHint
    }
}

/// Where a push goes.
package enum PushAddress: Sendable, Hashable {
    /// A device token of APNs, a registration token of FCM, or a channel URI of WNS.
    case handle(String)
    /// A subscription of a browser or of a UnifiedPush distributor, with keys as in RFC 8291.
    case subscription(endpoint: String, p256dh: String, auth: String)
}

/// How a push ended.
package struct PushResult: Sendable, Hashable {
    package var answer: PushAnswer
    /// The reason of the push service, such as `BadDeviceToken`, or of the connector, such as `timeout`; at most 64
    /// characters of ASCII, without secrets or addresses.
    package var reason: String
    /// The status of the response; `nil` without one.
    package var status: Int?
    /// The ID of the hub's key that was accepted, if devices are bound to a key (Web Push) and it is not the newest
    /// key. After each accepted push the hub keeps this value for the device, also `nil`.
    package var keyUsed: String?

    package init(_ answer: PushAnswer, reason: String = "", status: Int? = nil, keyUsed: String? = nil) {
        self.answer = answer
        self.reason = reason
        self.status = status
        self.keyUsed = keyUsed
    }
}

/// The kinds of results that the hub distinguishes.
package enum PushAnswer: Sendable, Hashable {
    /// The push service has accepted the push.
    case accepted
    /// The push service answered 200 and has dropped the push (WNS: `dropped`).
    case dropped
    /// The push service answered 200 and has dropped the push, because this device gets too many (WNS:
    /// `channelthrottled`).
    case channelThrottled
    /// The device is gone: since a time, if the push service names one.
    case gone(since: Timestamp?)
    /// The address is for another app or environment, or was never valid.
    case wrongAddress
    /// The rules of the operator do not let pushes go there. That says nothing about the device, and the rules may change
    /// back.
    case notAllowed
    /// The address belongs to another sender (WNS 403, FCM `SENDER_ID_MISMATCH`).
    case wrongSender
    /// Too many requests: try again after the time that the push service names, if it does.
    case throttled(after: Duration?)
    /// Too many requests to this device (APNs `TooManyRequests`, FCM's limit of a device), which says nothing about the
    /// others: try again after the time that the push service names, if it does.
    case deviceThrottled(after: Duration?)
    /// The push service fails (5xx): try again.
    case failed(after: Duration?)
    /// No part of the request reached the push service.
    case unreachable
    /// The request was sent, and no answer came: the push may have been accepted.
    case unanswered
    /// The push service refuses the credentials.
    case credentialRefused
    /// The push service accepts no access token of the hub for this channel (WNS 401). The channel may belong to the
    /// other token service, so this says nothing about other channels.
    case channelRefused
    /// The push is larger than the push service accepts.
    case tooLarge
    /// The push service or the connector refuses the push for good.
    case invalid
}

/// The verdict of a push service on credentials.
package enum CredentialCheck: Sendable, Hashable {
    case good
    /// They are refused, with the push service's reason.
    case refused(reason: String)
    /// It is not known, with the reason: the push service cannot be reached, for example.
    case unknown(reason: String)
}
