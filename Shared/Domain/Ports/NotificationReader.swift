package import Foundations

/// The notifications as the devices of their recipients read them.
package protocol NotificationReader: Sendable {
    /// The notification with this ID, if it belongs to this user.
    ///
    /// - Parameter completion: called exactly once, on any thread, also before this returns. It must not block. It gets
    ///   `nil` both for an unknown ID and for another user's notification. The owner is part of the query, so the two
    ///   cannot be told apart.
    func find(
        _ id: NotificationID, recipient: UserName,
        then completion: @escaping @Sendable (Result<StoredNotification?, any Error>) -> Void)

    /// Those of these notifications that belong to this user, as ``find(_:recipient:)`` gives each of them.
    func find(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: StoredNotification]

    /// The bytes of the payloads that ``find(_:recipient:)`` would load for these notifications, without loading them.
    func payloadBytes(of ids: [NotificationID], recipient: UserName) async throws -> Int

    /// Whether this user can read these notifications, without their payloads. IDs that are unknown, and those of other
    /// users, are absent.
    func states(_ ids: [NotificationID], recipient: UserName) async throws -> [NotificationID: ReadingState]

    /// Sets the time of the first reading of each. A later call changes nothing, and an unknown ID is ignored.
    ///
    /// If a platform has accepted the push and its dispatcher asked for it (``Delivery/isWithdrawnOnRead``), the first
    /// call also makes a withdrawal. It ends the reminders: none is claimed after it.
    ///
    /// Every read ends in this call, with or without a fetch. Which notifications a user may mark is decided before it;
    /// see ``markRead(_:of:at:)`` and ``markRead(through:of:at:)``.
    func markRead(_ ids: [NotificationID], at time: Timestamp) async throws

    /// Marks one notification as read, for callers without a task.
    ///
    /// - Parameter completion: called exactly once, on any thread, also before this returns. It must not block.
    func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    )

    /// Sets the time at which a device first showed the notification. A later call changes nothing, and an unknown ID
    /// is ignored. It does not count as a read.
    func markShown(_ id: NotificationID, at time: Timestamp) async throws

    // The inbox, for devices that missed a push.

    /// A user's notifications that can be read at `now`, oldest first, without payloads. Marks none of them as read.
    ///
    /// Notifications that are expired or revoked are left out, and those whose `NotBefore` is in the future.
    ///
    /// - Parameters:
    ///   - unreadOnly: leaves out those that were read.
    ///   - after: only notifications that are newer than this one.
    func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage

    /// The number of a user's unread notifications that can be read at `now`; see ``InboxPage/unread``.
    func unreadCount(of recipient: UserName, now: Timestamp) async throws -> Int
}

extension NotificationReader {
    /// For callers with a task.
    package func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? {
        try await withCheckedThrowingContinuation { caller in
            find(id, recipient: recipient) { caller.resume(with: $0) }
        }
    }
}
