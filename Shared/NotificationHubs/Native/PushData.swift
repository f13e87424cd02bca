package import Domain

/// What the pushes of one notification to all platforms share: the values that the device's app reads (the ID of the
/// notification, whether it is withdrawn, and the signature), and the tag of the recipient. It has nothing of the
/// payload. It is made once for all platforms, because their texts are a large part of the cost of a send.
package struct PushData: Sendable {
    let id: NotificationID
    let isWithdrawal: Bool
    let signature: PushSignature?
    /// See ``UserName/tag``.
    let tag: String
    /// The members of a JSON object, without its braces. All values are strings, because data messages of FCM and ADM
    /// have no others.
    let members: String
    /// The page that a declarative push to a browser opens (`BROWSER_PUSH_URL`); `nil` if there is none.
    let browserPage: String?

    /// Makes the common part of the pushes of a plan.
    ///
    /// - Parameters:
    ///   - signature: the values `ts` and `sig` of a signed push. Those of a withdrawal must be signed as one; see
    ///     ``PushSigner/sign(_:for:withdraw:now:)``.
    ///   - browserPage: `BROWSER_PUSH_URL`, which makes pushes to browsers declarative.
    package init(_ plan: DispatchPlan, signature: PushSignature? = nil, browserPage: String? = nil) {
        self.init(
            plan.id, plan.recipient, isWithdrawal: plan.work == .withdrawal, signature: signature,
            browserPage: browserPage)
    }

    init(
        _ id: NotificationID, _ recipient: UserName, isWithdrawal: Bool = false, signature: PushSignature? = nil,
        browserPage: String? = nil
    ) {
        self.id = id
        self.isWithdrawal = isWithdrawal
        self.signature = signature
        self.browserPage = browserPage
        tag = recipient.tag
        var text = "\"secureId\":\""
        text.append(id.description)
        text.append("\"")
        if isWithdrawal { text.append(",\"withdraw\":\"1\"") }
        if let signature {
            text.append(",\"ts\":\"\(signature.timestamp)\",\"sig\":\"")
            text.append(signature.signature)
            text.append("\"")
        }
        members = text
    }

    var appleBackgroundBody: String { "{\"aps\":{\"content-available\":1},\(members)}" }

    var gcmBody: String { "{\"data\":{\(members)}}" }

    /// The body of a raw notification through WNS: the values, separated by blanks.
    var rawBody: String {
        var text = id.description
        if isWithdrawal { text.append(" withdraw") }
        if let signature { text.append(" \(signature.timestamp) \(signature.signature)") }
        return text
    }

    static let appleBackground = [
        HubNotification.Header("apns-push-type", "background"), HubNotification.Header("apns-priority", "5"),
    ]

    static let windowsRaw = [HubNotification.Header("X-WNS-Type", "wns/raw")]
}

extension HubNotification {
    /// A notification in the native form of a platform. WNS takes raw bytes, the others take JSON.
    init(native platform: Platform, tag: String, headers: [Header], body: String) {
        let type = platform == .windows ? "application/octet-stream" : "application/json;charset=utf-8"
        self.init(platform: platform, tag: tag, contentType: type, headers: headers, body: body)
    }
}
