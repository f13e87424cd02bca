import SecurePushCore

extension CreateNotificationRequest {
    /// One notification for each recipient, with IDs of their own.
    func notifications(
        sender: String, retention: Duration, now: Timestamp, traceparent: String?
    ) -> [Notification] {
        recipients.map { recipient in
            Notification(
                id: NotificationID(), sender: sender, recipient: recipient, presentation: presentation,
                alert: alert, platforms: platforms, createdAt: now, expiresAt: expiresAt ?? now + retention,
                expiryBoundsPush: expiresAt != nil, notBefore: notBefore, collapseKey: collapseKey, priority: priority,
                traceparent: traceparent)
        }
    }

    /// The tutorial's "Send push": a fixed text from a user to the same user, sent with an empty body.
    static func confirmation(to user: UserName) -> CreateNotificationRequest {
        var request = CreateNotificationRequest()
        request.recipients = [user]
        request.payload = [UInt8](#""Secure confirmation.""#.utf8)
        return request
    }
}
