import Crypto
import Domain
import Foundations

extension DispatchPlan {
    /// Web Push services keep a push for 4 weeks: the longest time that all of them take, in seconds.
    private static let maxBrowserTTL: Int64 = 28 * 86_400

    /// The fields of RFC 8030, section 5. A push without a time to live is kept as long as possible. Microsoft's
    /// service refuses a time of zero.
    func browserHeaders(now: Timestamp) -> [HubNotification.Header] {
        let isUrgent = presentation == .alert || priority == .high
        let seconds = min(max(1, secondsToLive(now: now) ?? Self.maxBrowserTTL), Self.maxBrowserTTL)
        var headers = [
            HubNotification.Header("TTL", String(seconds)),
            HubNotification.Header("Urgency", isUrgent ? "high" : "normal"),
        ]
        if let collapseKey { headers.append(HubNotification.Header("Topic", CollapseKey.topic(collapseKey))) }
        return headers
    }

    func browserBody(_ data: PushData) -> String {
        data.browserBody(showing: presentation == .alert ? alert ?? .generic : .generic)
    }
}

extension CollapseKey {
    /// A collapse key as a `Topic`: 24 bytes of its SHA-256 in base64url. Topics have at most 32 characters, and Apple's
    /// service refuses some shorter lengths.
    static func topic(_ key: String) -> String {
        Base64.encode(SHA256.hash(data: Array(key.utf8)).prefix(24), .url)
    }
}

extension PushData {
    /// The most bytes that fit into one encrypted record of Web Push (RFC 8291, section 4).
    static let maxBrowserBytes = 3_993

    /// The body of a push to a browser. With a page it is a declarative message as well (WebKit, "Declarative Web
    /// Push"): Safari shows it without a service worker, and others hand it to theirs, which shows the secret. It has
    /// the generic text and nothing of the payload. If a sender's text is too long, the generic text replaces it.
    func browserBody(showing text: AlertText) -> String {
        guard let browserPage else { return "{\(members)}" }
        let body = declarativeBody(text, page: browserPage)
        return body.utf8.count <= Self.maxBrowserBytes ? body : declarativeBody(.generic, page: browserPage)
    }

    private func declarativeBody(_ alert: AlertText, page: String) -> String {
        // A declarative message has a title, which is not empty.
        let title = alert.title.flatMap { $0.isEmpty ? nil : $0 }
        let body = title == nil && alert.body == nil ? AlertText.generic.body : alert.body
        var json = "{\"web_push\":8030,\"notification\":{\"title\":"
        JSONText.append(title ?? AlertText.generic.title ?? "", to: &json)
        json.append(",\"body\":")
        JSONText.append(body ?? "", to: &json)
        json.append(",\"navigate\":")
        JSONText.append(page, to: &json)
        // The worker and the page find it by its tag. Safari gives a worker the values of `data` only.
        json.append(",\"tag\":\"\(id)\",\"data\":{\(members)}},\"mutable\":true,\(members)}")
        return json
    }
}

extension AlertText {
    /// The text of a withdrawal, where no worker shows one of its own.
    static let withdrawn = AlertText(title: "Message withdrawn", body: "This message was withdrawn.")
}
