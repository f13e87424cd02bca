import SecurePushClient
import UserNotifications

/// Replaces the generic text of an alert with the secret, before the user sees it.
final class NotificationService: UNNotificationServiceExtension {
    /// One per process: the system may make several instances, and call each more than once.
    private static let handler = NotificationServiceHandler(client: SecurePush(deployment: Deployment()).client)

    override func didReceive(
        _ request: UNNotificationRequest,
        withContentHandler contentHandler: @escaping (UNNotificationContent) -> Void
    ) {
        let push = IncomingPush(userInfo: request.content.userInfo)
        // An alert of another part of the app stays as it is.
        guard push.isSecurePush else { return contentHandler(request.content) }
        let delivery = Delivery(contentHandler: contentHandler)
        Self.handler.didReceive(push) { delivery.deliver($0) }
    }

    override func serviceExtensionTimeWillExpire() {
        Self.handler.timeWillExpire()
    }
}

/// The handler that the system handed over for one notification.
///
/// Unchecked, because Apple's headers do not say that the handler may be called on any thread: nothing here changes,
/// and the client library calls its completion, and so this handler, exactly once.
private struct Delivery: @unchecked Sendable {
    let contentHandler: (UNNotificationContent) -> Void

    func deliver(_ content: ServiceContent) {
        let notification = UNMutableNotificationContent()
        notification.sound = .default
        content.apply(to: notification)
        contentHandler(notification)
    }
}
