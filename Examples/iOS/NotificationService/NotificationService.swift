import SecurePushClient
import UserNotifications

/// Replaces the generic text of an alert with the secret, before the user sees it.
final class NotificationService: UNNotificationServiceExtension {
    /// One per process: the system may make several instances, and call each more than once.
    private static let handler = NotificationServiceHandler(client: SecurePush.shared.client)

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let delivery = Delivery(original: request.content, contentHandler: contentHandler)
        Self.handler.didReceive(IncomingPush(userInfo: request.content.userInfo)) { delivery.deliver($0) }
    }

    override func serviceExtensionTimeWillExpire() {
        Self.handler.timeWillExpire()
    }
}

/// What the system handed over for one notification.
///
/// Unchecked, because Apple's headers do not say that the handler may be called on any thread: nothing here changes,
/// and the client library calls its completion, and so this handler, exactly once.
private struct Delivery: @unchecked Sendable {
    let original: UNNotificationContent
    let contentHandler: (UNNotificationContent) -> Void

    func deliver(_ content: ServiceContent) {
        contentHandler(content.notification(for: original))
    }
}
