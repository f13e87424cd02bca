/// Everything that a store does. Each service depends only on the ports that it needs.
package protocol Store: NotificationWriter, IdempotentWriter, SenderNotifications, Outbox, DispatchStore,
    PayloadReader, Inbox, RegistrationStore, InstallationStore, DeviceLeases, RegisteredPlatforms, Retention,
    DeadLetterStore, PayloadKeyUse, SilentPushes, FollowUpOutbox, FollowUpStore, DeviceLife, RefreshTokenStore,
    EncryptionKeyStore, AllNotifications, OutcomeStore, DevicePlaces
{
    /// Returns if the store can be written to within `timeout`.
    ///
    /// - Throws: ``StorageError`` if not.
    func ping(timeout: Duration) async throws
}

/// Stores accepted notifications.
package protocol NotificationWriter: Sendable {
    /// Makes notifications durable together with their outbox entries. All of them or none are stored, in one
    /// transaction, which other callers may share (group commit). Returns after the transaction is on disk.
    ///
    /// - Throws: ``StorageError``. Nothing is stored then, except for the code `connectionLost`: the outcome of the
    ///   commit is unknown, and repeating the call with the same IDs is safe because it changes no existing row.
    func append(_ notifications: [SealedNotification]) async throws

    /// The same with a callback, for callers without a task.
    ///
    /// - Parameter completion: called exactly once, on any thread, also before this returns. It must not block.
    func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void)
}

/// Stores accepted notifications at most once per `Idempotency-Key`.
package protocol IdempotentWriter: Sendable {
    /// Makes notifications durable like ``NotificationWriter/append(_:)``, and in the same transaction the key with the
    /// answer to repeat. If the key exists and has not expired at `now`, nothing is stored.
    ///
    /// This holds across processes: of two concurrent calls the second waits for the transaction of the first. There is
    /// no reservation before the transaction, so a process that dies leaves no key that is neither done nor free.
    ///
    /// - Returns: `nil` after everything is on disk, or the earlier request that has the key.
    /// - Throws: ``StorageError``, as ``NotificationWriter/append(_:)``.
    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest?

    /// The request that has this key and has not expired at `now`.
    func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest?
}

/// The notifications as the devices of their recipients read them.
package protocol PayloadReader: Sendable {
    /// The notification with this ID, if it belongs to this user.
    ///
    /// - Returns: `nil` both for an unknown ID and for another user's notification. The owner is part of the query, so
    ///   the two cannot be told apart.
    func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification?

    /// The same with a callback, for callers without a task.
    ///
    /// - Parameter completion: called exactly once, on any thread, also before this returns. It must not block.
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

    /// The same for one notification with a callback, for callers without a task.
    ///
    /// - Parameter completion: called exactly once, on any thread, also before this returns. It must not block.
    func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    )

    /// Sets the time at which a device first showed the notification. A later call changes nothing, and an unknown ID
    /// is ignored. It does not count as a read.
    func markShown(_ id: NotificationID, at time: Timestamp) async throws
}

/// The list of a user's notifications, for devices that missed a push.
package protocol Inbox: Sendable {
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

/// A page of a user's inbox.
package struct InboxPage: Sendable, Hashable {
    /// One notification.
    package struct Entry: Sendable, Hashable {
        /// Its ID.
        package var id: NotificationID
        /// When it was accepted.
        package var createdAt: Timestamp
        /// Whether a device has read it.
        package var isRead: Bool

        /// Makes an entry.
        package init(id: NotificationID, createdAt: Timestamp, isRead: Bool) {
            self.id = id
            self.createdAt = createdAt
            self.isRead = isRead
        }
    }

    /// The notifications of this page.
    package var entries: [Entry]
    /// The number of the user's unread notifications, on this page and on all others, among the user's newest
    /// ``maxUnreadScan``.
    package var unread: Int
    /// How many of a user's notifications are examined to count the unread ones: this bounds the time. Expired ones
    /// that are not removed yet are among them, so the count is exact unless a user gets more than a hundred per day.
    package static let maxUnreadScan = 10_000
    /// The ID of the last entry if there are more; `nil` on the last page.
    package var next: NotificationID?

    /// Makes a page.
    package init(entries: [Entry], unread: Int, next: NotificationID?) {
        self.entries = entries
        self.unread = unread
        self.next = next
    }
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
    /// rest is as for ``DeadLetterStore/reopen(_:now:)``. Call it before the ID is published.
    ///
    /// - Returns: the decision; `nil` if the sender has no such notification.
    func resend(_ id: NotificationID, sender: String, now: Timestamp) async throws -> ReplayDecision?
}

/// Tells whether a payload key can be removed from the key ring.
package protocol PayloadKeyUse: Sendable {
    /// The number of payloads that can still be read at `now` and are sealed with the key of this ID, counted up to
    /// `limit`.
    ///
    /// There is no index for this question of an operator. If there are no such payloads, it reads all payloads.
    func payloads(sealedWith keyID: String, limit: Int, now: Timestamp) async throws -> Int
}
