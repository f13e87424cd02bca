public import SecurePushCore

extension HubNotification {
    /// The native form of a withdrawal: devices that show the notification remove it. It has neither a collapse key nor
    /// an expiry.
    ///
    /// - Returns: `nil` for a platform that has no native form (see ``Platform/known``).
    public static func withdrawal(
        of id: NotificationID, recipient: UserName, for platform: Platform
    ) -> HubNotification? {
        let json = "application/json;charset=utf-8"
        let data = "{\"secureId\":\"\(id)\",\"withdraw\":\"1\"}"
        let (contentType, headers, body): (String, [Header], String)
        switch platform {
        case .apple:
            body = "{\"aps\":{\"content-available\":1},\"secureId\":\"\(id)\",\"withdraw\":\"1\"}"
            (contentType, headers) = (
                json, [Header("apns-push-type", "background"), Header("apns-priority", "5")]
            )
        case .fcmv1:
            (contentType, headers) = (json, [])
            body = "{\"message\":{\"data\":\(data),\"android\":{\"priority\":\"high\"}}}"
        case .gcm, .adm: (contentType, headers, body) = (json, [], "{\"data\":\(data)}")
        case .browser: (contentType, headers, body) = (json, [], data)
        case .windows:
            (contentType, headers) = ("application/octet-stream", [Header("X-WNS-Type", "wns/raw")])
            body = "\(id) withdraw"
        default: return nil
        }
        return HubNotification(
            platform: platform, tag: recipient.tag, contentType: contentType, headers: headers, body: body)
    }
}
