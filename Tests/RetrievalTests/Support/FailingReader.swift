import SecurePushCore

/// Notifications that cannot be read.
struct FailingReader: PayloadReader, Inbox {
    let error: StorageError

    func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? { throw error }
    func find(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: StoredNotification] { throw error }
    func payloadBytes(of ids: [NotificationID], recipient: UserName) async throws -> Int { throw error }
    func states(_ ids: [NotificationID], recipient: UserName) async throws -> [NotificationID: ReadingState] {
        throw error
    }
    func markRead(_ ids: [NotificationID], at time: Timestamp) async throws { throw error }
    func markShown(_ id: NotificationID, at time: Timestamp) async throws { throw error }
    func unreadCount(of recipient: UserName, now: Timestamp) async throws -> Int { throw error }
    func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage { throw error }
}
