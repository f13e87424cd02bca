import Crypto
public import SecurePushCore

extension DispatchPlan {
    /// The native notification for one platform: the ID and how to wake the device, without any part of the payload.
    ///
    /// - Parameter now: the time from which a time to live counts.
    /// - Returns: `nil` for a platform that has no native form (see ``Platform/known``).
    public func notification(for platform: Platform, now: Timestamp) -> HubNotification? {
        switch platform {
        case .apple: native(platform, json, headers: appleHeaders, body: appleBody)
        case .fcmv1: native(platform, json, headers: [], body: firebaseBody(now: now))
        case .gcm: native(platform, json, headers: [], body: "{\"data\":{\"secureId\":\"\(id)\"}}")
        case .adm: native(platform, json, headers: [], body: admBody(now: now))
        case .browser: native(platform, json, headers: [], body: "{\"secureId\":\"\(id)\"}")
        case .windows: native(platform, "application/octet-stream", headers: windowsHeaders(now: now), body: "\(id)")
        default: nil
        }
    }

    private var json: String { "application/json;charset=utf-8" }

    private func native(
        _ platform: Platform, _ contentType: String, headers: [HubNotification.Header], body: String
    ) -> HubNotification {
        HubNotification(
            platform: platform, tag: recipient.tag, contentType: contentType, headers: headers, body: body)
    }

    // MARK: APNs ("Sending notification requests to APNs")

    private static let backgroundHeaders = [
        HubNotification.Header("apns-push-type", "background"), HubNotification.Header("apns-priority", "5"),
    ]
    private static let alertHeaders = [
        HubNotification.Header("apns-push-type", "alert"), HubNotification.Header("apns-priority", "10"),
    ]

    /// The push type decides the priority; the sender's `Priority` is for Android.
    private var appleHeaders: [HubNotification.Header] {
        var headers = presentation == .silent ? Self.backgroundHeaders : Self.alertHeaders
        if let pushExpiresAt {
            headers.append(HubNotification.Header("apns-expiration", String(max(0, pushExpiresAt.seconds))))
        }
        if let collapseKey {
            headers.append(HubNotification.Header("apns-collapse-id", CollapseKey.headerValue(collapseKey)))
        }
        return headers
    }

    private var appleBody: String {
        var body = "{\"aps\":{"
        switch presentation {
        case .silent: body.append("\"content-available\":1")
        case .alert:
            body.append("\"alert\":")
            (alert ?? .generic).appendJSON(to: &body)
            body.append(",\"mutable-content\":1")
        }
        body.append("},\"secureId\":\"")
        body.append(id.description)
        body.append("\"}")
        return body
    }

    // MARK: FCM HTTP v1 (AndroidConfig)

    /// FCM keeps a message for 28 days at most.
    private static let maxFirebaseTTL: Int64 = 28 * 86_400

    private func firebaseBody(now: Timestamp) -> String {
        var body = "{\"message\":{\"data\":{\"secureId\":\""
        body.append(id.description)
        body.append("\"},\"android\":{\"priority\":\"")
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

    private func admBody(now: Timestamp) -> String {
        var body = "{\"data\":{\"secureId\":\""
        body.append(id.description)
        body.append("\"}")
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

    private static let rawHeaders = [HubNotification.Header("X-WNS-Type", "wns/raw")]

    private func windowsHeaders(now: Timestamp) -> [HubNotification.Header] {
        var headers = Self.rawHeaders
        if let seconds = secondsToLive(now: now) {
            headers.append(HubNotification.Header("X-WNS-TTL", String(seconds)))
        }
        if let collapseKey {
            headers.append(HubNotification.Header("X-WNS-Tag", CollapseKey.headerValue(collapseKey)))
        }
        return headers
    }

    /// Whole seconds, rounded down so that no push outlives its payload.
    private func secondsToLive(now: Timestamp) -> Int64? {
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
