import SecurePushCore

/// A notification as the sender's list tells it.
struct ListedNotification: Codable, Sendable, Equatable {
    /// When the change was seen here; not of the list.
    var Time: String?
    var Id: String
    var Recipient: String
    var Status: String
    var CreatedAt: String
    var ReadAt: String?
}

/// What is new in a list that is read again and again: notifications that were not in it, and statuses that have
/// changed.
///
/// Only the newest are remembered; what has left the window is not heard of again.
struct TailWindow: Sendable {
    private let capacity: Int
    private var statuses: [String: String] = [:]
    /// The ID from which on everything is new: what was there at the first look is not told.
    private var oldest: String?
    private var isFirst = true

    /// - Parameter capacity: how many notifications are followed.
    init(capacity: Int) { self.capacity = capacity }

    /// - Parameters:
    ///   - page: newest first.
    ///   - showing: how many of the newest to tell at the first look, as if they were new.
    /// - Returns: what is to be told, the oldest first.
    mutating func take(_ page: [ListedNotification], showing: Int = 0) -> [ListedNotification] {
        var news: [ListedNotification] = []
        for (index, notification) in page.enumerated() {
            // The IDs' texts sort by time.
            if !isFirst, statuses[notification.Id] == nil, let oldest, notification.Id < oldest { continue }
            let isTold = isFirst ? index < showing : statuses[notification.Id] != notification.Status
            statuses[notification.Id] = notification.Status
            if isTold { news.append(notification) }
        }
        // What is older than the first look cannot be new, whenever it is seen.
        if isFirst { oldest = page.last?.Id }
        isFirst = false
        forget()
        return news.reversed()
    }

    private mutating func forget() {
        guard statuses.count > capacity else { return }
        let kept = statuses.keys.sorted(by: >).prefix(capacity)
        // What is older than the window must not come back as new.
        oldest = kept.last
        statuses = statuses.filter { item in oldest.map { item.key >= $0 } ?? true }
    }
}
