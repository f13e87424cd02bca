package import Foundations

/// Everything that a store does. Each service depends only on the ports that it needs.
package protocol Store: NotificationWriter, NotificationReader, DispatchStore, DeviceStore, RefreshTokenStore,
    OperatorStore, SenderNotifications, AnswerStore, DeviceReportStore
{
    /// Returns if the store can be written to within `timeout`.
    ///
    /// - Throws: ``StorageError`` if not.
    func ping(timeout: Duration) async throws
}

/// The notifications as their sender sees them. Every query is restricted to one sender, so another sender's
/// notification looks like one that does not exist.
package protocol SenderNotifications: Sendable {
    /// The record of a notification; `nil` if the sender has no such notification.
    func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord?

    /// A page of notifications, newest first (by ID, which begins with the time).
    func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage

    /// Destroys the payload, removes the ID from the outbox and stores the time. A later call changes nothing.
    ///
    /// If a platform has accepted the push, the first call also makes a withdrawal. The dispatcher that claims it drops
    /// it with ``WithdrawalMode/off``.
    ///
    /// - Returns: whether the sender has such a notification.
    func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool

    /// Makes the dead platforms of a notification pending again, as ``NotificationRecord/resending(now:)`` decides. The
    /// rest is as for ``OperatorStore/reopen(_:now:publishedBy:)``.
    ///
    /// - Returns: the decision; `nil` if the sender has no such notification.
    func resend(
        _ id: NotificationID, sender: String, now: Timestamp, publishedBy publisher: Republishing
    ) async throws -> ReplayDecision?
}

extension SenderNotifications {
    /// For a caller that publishes the ID itself.
    package func resend(_ id: NotificationID, sender: String, now: Timestamp) async throws -> ReplayDecision? {
        try await resend(id, sender: sender, now: now, publishedBy: .caller)
    }
}
