package import Foundations

package struct InboxPage: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        package var id: NotificationID
        package var createdAt: Timestamp
        package var isRead: Bool

        package init(id: NotificationID, createdAt: Timestamp, isRead: Bool) {
            self.id = id
            self.createdAt = createdAt
            self.isRead = isRead
        }
    }

    package var entries: [Entry]
    /// The number of the user's unread notifications, on this page and on all others, among the user's newest
    /// ``maxUnreadScan``.
    package var unread: Int
    /// How many of a user's notifications are examined to count the unread ones: this bounds the time. Expired ones
    /// that are not removed yet are among them, so the count is exact unless a user gets more than a hundred per day.
    package static let maxUnreadScan = 10_000
    /// The ID of the last entry if there are more; `nil` on the last page.
    package var next: NotificationID?

    package init(entries: [Entry], unread: Int, next: NotificationID?) {
        self.entries = entries
        self.unread = unread
        self.next = next
    }
}
