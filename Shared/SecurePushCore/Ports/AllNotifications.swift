/// The notifications of all senders, as an operator sees them; never a payload.
///
/// Every query reads along an index and examines a bounded number of rows, whatever the size of the store.
public protocol AllNotifications: Sendable {
    /// Counts the newest notifications that were accepted since a time: at most ``NotificationCensus/maxScan``.
    func census(since: Timestamp, now: Timestamp) async throws -> NotificationCensus

    /// A page of notifications, newest first. It examines at most ``NotificationCensus/maxScan`` rows.
    func page(_ query: OperatorQuery) async throws -> OperatorPage

    /// Everything that is on record of one notification; `nil` for an unknown ID.
    func life(of id: NotificationID) async throws -> NotificationLife?
}

/// How far the newest notifications have come.
public struct NotificationCensus: Sendable, Hashable {
    /// How many of the newest notifications a census or a page examines.
    public static let maxScan = 10_000
    /// How many outbox entries are examined for ``oldestUnfinished``.
    public static let maxOutboxScan = 1000

    /// The number of notifications.
    public var accepted = 0
    /// Those whose ID the broker has, or had.
    public var published = 0
    /// Those that the hub accepted for at least one platform.
    public var pushed = 0
    /// Those that were read, by a fetch or by a mark.
    public var read = 0
    /// Those that a device has reported as shown.
    public var shown = 0
    /// Those that some platforms accepted, and others did not.
    public var partial = 0
    /// Those that no platform accepted.
    public var failed = 0
    /// Those that their sender revoked.
    public var revoked = 0
    /// When the oldest of them was accepted; `nil` if there is none.
    public var oldest: Timestamp?
    /// When the oldest notification was accepted that is not final and not scheduled for later, among the
    /// ``maxOutboxScan`` oldest of the outbox; it may be older than the census.
    public var oldestUnfinished: Timestamp?

    /// An empty census.
    public init() {}

    /// Whether there may be older notifications in the time that was asked for.
    public var isCut: Bool { accepted >= Self.maxScan }
}

/// A query for notifications of all senders.
public struct OperatorQuery: Sendable, Hashable {
    /// Only notifications to this user.
    public var recipient: UserName?
    /// Only those that failed on at least one platform, and were neither revoked nor are being sent again.
    public var onlyFailed: Bool
    /// Only notifications that were accepted at this time or later.
    public var since: Timestamp
    /// Only notifications that are older than this one.
    public var before: NotificationID?
    /// The maximum number of notifications in a page.
    public var limit: Int

    /// Makes a query.
    public init(
        recipient: UserName? = nil, onlyFailed: Bool = false, since: Timestamp = Timestamp(milliseconds: 0),
        before: NotificationID? = nil, limit: Int
    ) {
        self.recipient = recipient
        self.onlyFailed = onlyFailed
        self.since = since
        self.before = before
        self.limit = limit
    }
}

/// A page of notifications of all senders.
public struct OperatorPage: Sendable, Hashable {
    /// A notification and its sender.
    public struct Entry: Sendable, Hashable {
        /// The notification, without the results of its follow-ups.
        public var record: NotificationRecord
        /// The sender's name, as the store keeps it.
        public var sender: String

        /// Makes an entry.
        public init(record: NotificationRecord, sender: String) {
            self.record = record
            self.sender = sender
        }
    }

    /// Newest first.
    public var entries: [Entry]
    /// Where the next page begins (``OperatorQuery/before``); `nil` if there is nothing older. A page may have fewer
    /// entries than its limit, or none, and still have a next page.
    public var next: NotificationID?

    /// Makes a page.
    public init(entries: [Entry], next: NotificationID?) {
        self.entries = entries
        self.next = next
    }
}

/// Everything that is on record of one notification.
public struct NotificationLife: Sendable, Hashable {
    /// The state of its outbox entry.
    public enum OutboxState: Sendable, Hashable {
        /// It waits to be published at a time, and may have been published before.
        case waiting(due: Timestamp)
        /// The broker has confirmed it.
        case published
        /// It has no entry: it is final.
        case none
    }

    /// The notification, with the results of its follow-ups.
    public var record: NotificationRecord
    /// The sender's name, as the store keeps it.
    public var sender: String
    /// The number of claims by dispatchers.
    public var attempt: Int
    /// The state of its outbox entry.
    public var outbox: OutboxState

    /// Makes a life.
    public init(record: NotificationRecord, sender: String, attempt: Int, outbox: OutboxState) {
        self.record = record
        self.sender = sender
        self.attempt = attempt
        self.outbox = outbox
    }
}

extension NotificationID {
    /// The smallest ID of a time: every notification that was accepted then or later has this ID or a larger one.
    public static func first(at time: Timestamp) -> NotificationID {
        NotificationID(high: UInt64(clamping: max(0, min(time.milliseconds, 1 << 47))) << 16, low: 0)
    }
}
