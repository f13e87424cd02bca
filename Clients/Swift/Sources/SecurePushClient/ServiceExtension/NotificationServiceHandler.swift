/// The work of a notification service extension (`UNNotificationServiceExtension`).
///
/// Keep one handler per process. The system may call ``didReceive(_:completion:)`` again while it runs; each call has
/// its own completion, which is called exactly once: with the secret, or when the time is up with the generic text.
public final class NotificationServiceHandler: Sendable {
    private let client: SecurePushClient

    /// Makes a handler.
    public init(client: SecurePushClient) {
        self.client = client
    }

    /// Fetches the secret of a push.
    ///
    /// - Parameters:
    ///   - push: the push: `IncomingPush(userInfo: request.content.userInfo)`.
    ///   - completion: called exactly once, on any thread, at most ``ClientLimits/secondsInTotal`` later.
    public func didReceive(_ push: IncomingPush, completion: @escaping @Sendable (ServiceContent) -> Void) {
    }

    /// Completes everything that is under way, with the best that is known. Call it from
    /// `serviceExtensionTimeWillExpire()`.
    public func timeWillExpire() {
    }
}
