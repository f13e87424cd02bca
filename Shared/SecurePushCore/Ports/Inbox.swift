/// What waits for a user: for devices that missed a push.
public protocol Inbox: Sendable {
    /// A user's notifications that can be read at `now`, oldest first, without payloads; marks nothing.
    ///
    /// Left out are those that are expired or revoked, and those whose `NotBefore` has not come.
    ///
    /// - Parameters:
    ///   - unreadOnly: leaves out those that were read.
    ///   - after: only newer ones than this.
    func inbox(
        of recipient: UserName, unreadOnly: Bool, after: NotificationID?, limit: Int, now: Timestamp
    ) async throws -> InboxPage
}

/// A page of a user's inbox.
public struct InboxPage: Sendable, Hashable {
    public struct Entry: Sendable, Hashable {
        public var id: NotificationID
        public var createdAt: Timestamp
        public var isRead: Bool

        public init(id: NotificationID, createdAt: Timestamp, isRead: Bool) {
            self.id = id
            self.createdAt = createdAt
            self.isRead = isRead
        }
    }

    public var entries: [Entry]
    /// How many of all the user's notifications, on this page or not, are unread.
    public var unread: Int
    /// The last entry's ID where there are more; `nil` on the last page.
    public var next: NotificationID?

    public init(entries: [Entry], unread: Int, next: NotificationID?) {
        self.entries = entries
        self.unread = unread
        self.next = next
    }
}
