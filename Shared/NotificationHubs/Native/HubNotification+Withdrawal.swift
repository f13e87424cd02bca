package import Domain

extension HubNotification {
    /// The push that withdraws a notification: it wakes the app silently, and the app removes what it shows.
    ///
    /// It has no collapse key, so it never replaces another push, and no other push replaces it. It has no time to
    /// live either: a device that was off for days still has to remove an expired notification. Android devices get it
    /// with normal priority, because it shows nothing, and FCM lowers the priority of an app whose urgent messages show
    /// nothing.
    ///
    /// - Parameters:
    ///   - id: the notification that is withdrawn.
    ///   - recipient: the user whose devices have it.
    ///   - platform: the platform that accepted its push.
    ///   - signature: the values `ts` and `sig`, signed as a withdrawal; see ``PushSigner/sign(_:for:withdraw:now:)``.
    /// - Returns: `nil` for a platform that has no native form (see ``Platform/known``).
    package static func withdrawal(
        of id: NotificationID, recipient: UserName, for platform: Platform, signature: PushSignature? = nil
    ) -> HubNotification? {
        withdrawal(for: platform, PushData(id, recipient, isWithdrawal: true, signature: signature))
    }

    /// The withdrawal with the part that all platforms share.
    ///
    /// - Parameter data: the common part of the pushes of a withdrawal.
    package static func withdrawal(for platform: Platform, _ data: PushData) -> HubNotification? {
        func native(_ body: String, headers: [Header] = []) -> HubNotification {
            HubNotification(native: platform, tag: data.tag, headers: headers, body: body)
        }
        return switch platform {
        case .apple: native(data.appleBackgroundBody, headers: PushData.appleBackground)
        case .fcmv1:
            native("{\"message\":{\"data\":{\(data.members)},\"android\":{\"priority\":\"normal\"}}}")
        case .gcm, .adm: native(data.gcmBody)
        case .browser: native(data.browserBody(showing: .withdrawn))
        case .windows: native(data.rawBody, headers: PushData.windowsRaw)
        default: nil
        }
    }
}
