/// The sender's side of the store: what became of its notifications. Every call is held to one sender; what is
/// another's is not there.
public protocol SenderNotifications: Sendable {
    func record(_ id: NotificationID, sender: String) async throws -> NotificationRecord?

    /// A page of notifications, newest first (by ID, which begins with the time).
    func page(_ query: NotificationQuery, now: Timestamp) async throws -> NotificationPage

    /// Destroys the payload, takes the ID out of the outbox and notes the time; a later call changes nothing.
    ///
    /// - Returns: whether the sender has such a notification.
    func revoke(_ id: NotificationID, sender: String, now: Timestamp) async throws -> Bool

    /// Makes owed again what was given up or refused for good, as ``NotificationRecord/resending(now:)`` decides; the
    /// rest as for ``DeadLetterLedger/reopen(_:now:)``. To be called before the ID is published.
    ///
    /// - Returns: what came of it; `nil` where the sender has no such notification.
    func resend(_ id: NotificationID, sender: String, now: Timestamp) async throws -> ReplayDecision?
}
