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
