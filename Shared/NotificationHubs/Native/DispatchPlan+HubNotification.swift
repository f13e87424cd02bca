import Crypto
package import Domain
package import Foundations

extension DispatchPlan {
    /// The native notification for one platform: the ID and how to wake the device, without any part of the payload.
    ///
    /// - Parameters:
    ///   - now: the time from which a time to live counts.
    ///   - signature: the values `ts` and `sig` of a signed push; see ``PushSigner``.
    /// - Returns: `nil` for a platform that has no native form (see ``Platform/known``).
    package func notification(
        for platform: Platform, now: Timestamp, signature: PushSignature? = nil
    ) -> HubNotification? {
        notification(for: platform, now: now, PushData(id, recipient, signature: signature))
    }

    /// The native notification with the part that all platforms share.
    package func notification(for platform: Platform, now: Timestamp, _ data: PushData) -> HubNotification? {
        func native(_ body: String, headers: [HubNotification.Header] = []) -> HubNotification {
            HubNotification(native: platform, tag: data.tag, headers: headers, body: body)
        }
        return switch platform {
        case .apple: native(appleBody(data), headers: appleHeaders)
        case .fcmv1: native(firebaseBody(data, now: now))
        case .gcm: native(data.gcmBody)
        case .adm: native(admBody(data, now: now))
        case .browser: native(browserBody(data), headers: browserHeaders(now: now))
        case .windows: native(data.rawBody, headers: windowsHeaders(now: now))
        default: nil
        }
    }

    // MARK: APNs ("Sending notification requests to APNs")

    private static let alertHeaders = [
        HubNotification.Header("apns-push-type", "alert"), HubNotification.Header("apns-priority", "10"),
    ]

    /// The push type decides the priority; the sender's `Priority` is for Android.
    private var appleHeaders: [HubNotification.Header] {
        var headers = presentation == .silent ? PushData.appleBackground : Self.alertHeaders
        if let pushExpiresAt {
            headers.append(HubNotification.Header("apns-expiration", String(max(0, pushExpiresAt.seconds))))
        }
        if let collapseKey {
            headers.append(HubNotification.Header("apns-collapse-id", CollapseKey.headerValue(collapseKey)))
        }
        return headers
    }

    /// The signature makes a long alert longer. If it exceeds the limit of APNs then, the generic text is shown:
    /// without a signature, the device would show nothing.
    private func appleBody(_ data: PushData) -> String {
        guard presentation == .alert else { return data.appleBackgroundBody }
        let body = alertBody(alert ?? .generic, data)
        guard data.signature != nil, body.utf8.count > AlertText.maxApplePayloadBytes else { return body }
        return alertBody(.generic, data)
    }

    private func alertBody(_ text: AlertText, _ data: PushData) -> String {
        var body = "{\"aps\":{\"alert\":"
        text.appendJSON(to: &body)
        body.append(",\"mutable-content\":1},")
        body.append(data.members)
        body.append("}")
        return body
    }

    // MARK: FCM HTTP v1 (AndroidConfig)

    /// FCM keeps a message for 28 days at most.
    private static let maxFirebaseTTL: Int64 = 28 * 86_400

    private func firebaseBody(_ data: PushData, now: Timestamp) -> String {
        var body = "{\"message\":{\"data\":{"
        body.append(data.members)
        body.append("},\"android\":{\"priority\":\"")
        body.append((priority ?? .high).rawValue)
        body.append("\"")
        if let collapseKey {
            body.append(",\"collapse_key\":")
            JSONText.append(collapseKey, to: &body)
        }
        if let seconds = secondsToLive(now: now) {
            body.append(",\"ttl\":\"\(min(seconds, Self.maxFirebaseTTL))s\"")
        }
        body.append("}}}")
        return body
    }

    // MARK: ADM ("Sending a message", Amazon Device Messaging)

    /// ADM keeps a message for 31 days at most.
    private static let maxAmazonTTL: Int64 = 31 * 86_400

    private func admBody(_ data: PushData, now: Timestamp) -> String {
        var body = "{\"data\":{"
        body.append(data.members)
        body.append("}")
        if let collapseKey {
            body.append(",\"consolidationKey\":")
            JSONText.append(collapseKey, to: &body)
        }
        // ADM refuses zero.
        if let seconds = secondsToLive(now: now) {
            body.append(",\"expiresAfter\":\(min(max(1, seconds), Self.maxAmazonTTL))")
        }
        body.append("}")
        return body
    }

    // MARK: WNS ("Push notification service request and response headers")

    private func windowsHeaders(now: Timestamp) -> [HubNotification.Header] {
        var headers = PushData.windowsRaw
        if let seconds = secondsToLive(now: now) {
            headers.append(HubNotification.Header("X-WNS-TTL", String(seconds)))
        }
        if let collapseKey {
            headers.append(HubNotification.Header("X-WNS-Tag", CollapseKey.headerValue(collapseKey)))
        }
        return headers
    }

    /// Whole seconds, rounded down so that no push outlives its payload.
    ///
    /// Decision: docs/decisions/0004-expiry-limits-the-push-only-if-asked.md
    func secondsToLive(now: Timestamp) -> Int64? {
        pushExpiresAt.map { max(0, ($0 - now).milliseconds / 1000) }
    }
}

extension AlertText {
    /// Appends `{"title":…,"body":…}` without absent members; the generic text if both are absent.
    fileprivate func appendJSON(to json: inout String) {
        let text = title == nil && body == nil ? AlertText.generic : self
        json.append("{")
        if let title = text.title {
            json.append("\"title\":")
            JSONText.append(title, to: &json)
        }
        if let body = text.body {
            json.append(text.title == nil ? "\"body\":" : ",\"body\":")
            JSONText.append(body, to: &json)
        }
        json.append("}")
    }
}

/// A collapse key as a header value (`apns-collapse-id`, `X-WNS-Tag`): visible ASCII, at most 64 bytes.
///
/// Visible ASCII other than `%` is unchanged. Every other byte, including CR and LF, is percent-encoded, so that
/// different keys stay different. APNs accepts at most 64 bytes: a longer value becomes the SHA-256 of the key in hex,
/// which has 64.
enum CollapseKey {
    private static let unchanged = ByteSet.visible.subtracting(ByteSet("%"))

    static func headerValue(_ key: String) -> String {
        let value = PercentCoding.encode(key, keeping: unchanged, hexCase: .lower)
        return value.utf8.count > 64 ? SHA256.hash(data: Array(key.utf8)).hex : value
    }
}
