import SecurePushCore

/// Notifications that cannot be read.
struct FailingReader: PayloadReader, Inbox {
    let error: StorageError

    func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? { throw error }
    func markRead(_ id: NotificationID, at time: Timestamp) async throws { throw error }
    func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage { throw error }
}
