import SecurePushCore

/// The values of a push that the device's app reads: the ID of the notification, whether it is withdrawn, and the
/// signature. It has nothing of the payload.
struct PushData: Sendable {
    var id: NotificationID
    var isWithdrawal = false
    var signature: PushSignature?

    /// The members of a JSON object, without its braces. All values are strings, because data messages of FCM and ADM
    /// have no others.
    var members: String {
        var text = "\"secureId\":\"\(id)\""
        if isWithdrawal { text.append(",\"withdraw\":\"1\"") }
        if let signature {
            text.append(",\"ts\":\"\(signature.timestamp)\",\"sig\":\"")
            text.append(signature.signature)
            text.append("\"")
        }
        return text
    }

    /// The body of a silent push through APNs.
    var appleBackgroundBody: String { "{\"aps\":{\"content-available\":1},\(members)}" }

    /// The body of a web push.
    var browserBody: String { "{\(members)}" }

    /// The body of a message through legacy FCM.
    var gcmBody: String { "{\"data\":{\(members)}}" }

    /// The body of a raw notification through WNS: the values, separated by blanks.
    var rawBody: String {
        var text = id.description
        if isWithdrawal { text.append(" withdraw") }
        if let signature { text.append(" \(signature.timestamp) \(signature.signature)") }
        return text
    }

    /// The headers of a silent push through APNs.
    static let appleBackground = [
        HubNotification.Header("apns-push-type", "background"), HubNotification.Header("apns-priority", "5"),
    ]

    /// The header of a raw notification through WNS.
    static let windowsRaw = [HubNotification.Header("X-WNS-Type", "wns/raw")]
}

extension HubNotification {
    /// A notification in the native form of a platform. WNS takes raw bytes, the others take JSON.
    init(native platform: Platform, recipient: UserName, headers: [Header], body: String) {
        let type = platform == .windows ? "application/octet-stream" : "application/json;charset=utf-8"
        self.init(platform: platform, tag: recipient.tag, contentType: type, headers: headers, body: body)
    }
}
