import Domain

/// A row of the sender's list.
struct ListedNotification: Codable, Sendable, Equatable {
    /// When this command saw the change; not part of the list.
    var time: String?
    var id: String
    var recipient: String
    var status: String
    var createdAt: String
    var readAt: String?

    /// Whether every platform has a final state. A status that this program does not know counts as final.
    var isFinal: Bool { NotificationStatus(rawValue: status)?.isFinal ?? true }
}

/// Finds new notifications and changed statuses in a list that is polled. Remembers only the newest notifications;
/// one that has left the window is not reported again.
struct TailWindow: Sendable {
    struct News: Sendable, Equatable {
        /// New and changed notifications, oldest first.
        var notifications: [ListedNotification] = []
        /// Notifications that left the window without a final status: their next changes are not seen.
        var unfinished = 0
    }

    private let capacity: Int
    private let size: Int
    private var statuses: [String: String] = [:]
    /// The notifications in the window that have no final status.
    private var unfinished: Set<String> = []
    /// Unknown IDs older than this one are not new.
    private var oldest: String?
    private(set) var isFirst = true

    /// - Parameters:
    ///   - size: the number of the newest notifications whose changes are seen.
    ///   - capacity: the number of notifications to remember.
    init(size: Int, capacity: Int) {
        self.size = size
        self.capacity = capacity
    }

    /// The newest notification so far. Everything after it is new at the next poll; empty if there was none.
    var newest: String { statuses.keys.max() ?? "" }

    /// - Parameters:
    ///   - page: newest first; more than the window if many are new.
    ///   - showing: how many of the newest to report on the first call as if they were new.
    mutating func take(_ page: [ListedNotification], showing: Int = 0) -> News {
        var news = News()
        for (index, notification) in page.enumerated() {
            // IDs sort by time as text.
            if !isFirst, statuses[notification.id] == nil, let oldest, notification.id < oldest { continue }
            let isNews = isFirst ? index < showing : statuses[notification.id] != notification.status
            statuses[notification.id] = notification.status
            if isNews { news.notifications.append(notification) }
            if notification.isFinal {
                unfinished.remove(notification.id)
            } else {
                unfinished.insert(notification.id)
            }
        }
        if isFirst { oldest = page.last?.id }
        isFirst = false
        if page.count >= size, size > 0 {
            let end = page[size - 1].id
            let gone = unfinished.filter { $0 < end }
            unfinished.subtract(gone)
            news.unfinished = gone.count
        }
        forget()
        news.notifications.reverse()
        return news
    }

    private mutating func forget() {
        guard statuses.count > capacity else { return }
        let kept = statuses.keys.sorted(by: >).prefix(capacity)
        oldest = kept.last
        statuses = statuses.filter { item in oldest.map { item.key >= $0 } ?? true }
    }
}

/// Whether the service is unreachable, so that each outage is reported once.
struct TailOutage: Sendable {
    /// Whether the service has ever answered.
    private(set) var hasAnswered = false
    /// The polls that failed since the last one that succeeded.
    private var failures = 0

    /// - Returns: whether an outage has begun.
    mutating func begin() -> Bool {
        defer { failures += 1 }
        return failures == 0
    }

    /// - Returns: the number of polls that failed before this one.
    mutating func heal() -> Int {
        defer {
            failures = 0
            hasAnswered = true
        }
        return failures
    }
}

/// All that is new since the last poll, from as many pages as it takes.
struct TailPoll: Sendable {
    /// Newest first.
    private(set) var notifications: [ListedNotification] = []
    /// New notifications that are older than those, and are not shown.
    private(set) var missed = 0
    /// Whether there are still more than ``missed``.
    private(set) var isCut = false

    /// The pages that are shown, of at most 200 notifications.
    static let maxPages = 10
    /// The pages after which the missed notifications are not counted any more.
    static let maxCountedPages = 100

    /// Reads pages until one reaches a notification that is known.
    ///
    /// - Parameters:
    ///   - newest: the newest known notification; `nil` for one page.
    ///   - page: reads the page before a notification.
    init(
        since newest: String?, _ page: (_ before: String?) async throws -> (rows: [ListedNotification], next: String?)
    ) async throws {
        var before: String?
        for index in 0..<Self.maxCountedPages {
            let (rows, next) = try await page(before)
            if index < Self.maxPages {
                notifications += rows
            } else {
                missed += rows.count { row in newest.map { row.id > $0 } ?? false }
            }
            // The same `next` again would loop for ever.
            guard let newest, let next, next > newest, next != before else { return }
            before = next
        }
        isCut = true
    }

    /// The message about the notifications that are not shown; `nil` if there are none.
    var loss: String? {
        if missed == 0 && !isCut { return nil }
        let count = (isCut ? "at least " : "") + missed.grouped
        let oldest = notifications.last.map { " --before \($0.id.oneLine)" } ?? ""
        return "Missed \(count) notifications: more arrived since the last poll than tail shows. "
            + "`securepush list --all\(oldest)` lists them."
    }
}
