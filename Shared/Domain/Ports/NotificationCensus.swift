package import Foundations

/// How far the newest notifications have come.
package struct NotificationCensus: Sendable, Hashable {
    /// How many of the newest notifications a census or a page examines.
    package static let maxScan = 10_000
    /// How many outbox entries are examined for ``oldestUnfinished``.
    package static let maxOutboxScan = 1000

    package var accepted = 0
    /// Those whose ID the broker has, or had.
    package var published = 0
    /// Those that the hub accepted for at least one platform.
    package var pushed = 0
    /// Those that were read, by a fetch or by a mark.
    package var read = 0
    /// Those that a device has reported as shown.
    package var shown = 0
    /// Those that some platforms accepted, and others did not.
    package var partial = 0
    /// Those that no platform accepted.
    package var failed = 0
    package var revoked = 0
    /// When the oldest of them was accepted; `nil` if there is none.
    package var oldest: Timestamp?
    /// When the oldest notification was accepted that is not final and not scheduled for later, among the
    /// ``maxOutboxScan`` oldest of the outbox; it may be older than the census.
    package var oldestUnfinished: Timestamp?

    package init() {}

    /// Whether there may be older notifications in the time that was asked for.
    package var isCut: Bool { accepted >= Self.maxScan }
}

package struct OperatorQuery: Sendable, Hashable {
    package var recipient: UserName?
    /// Only those that failed on at least one platform, and were neither revoked nor are being sent again.
    package var onlyFailed: Bool
    /// Only notifications that were accepted at this time or later.
    package var since: Timestamp
    /// Only notifications that are older than this one.
    package var before: NotificationID?
    package var limit: Int

    package init(
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

package struct OperatorPage: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        /// The notification, without the results of its follow-ups.
        package var record: NotificationRecord
        /// The sender's name, as the store keeps it.
        package var sender: String

        package init(record: NotificationRecord, sender: String) {
            self.record = record
            self.sender = sender
        }
    }

    /// Newest first.
    package var entries: [Entry]
    /// Where the next page begins (``OperatorQuery/before``); `nil` if there is nothing older. A page may have fewer
    /// entries than its limit, or none, and still have a next page.
    package var next: NotificationID?

    package init(entries: [Entry], next: NotificationID?) {
        self.entries = entries
        self.next = next
    }
}

/// Everything that is on record of one notification.
package struct NotificationLife: Sendable, Hashable {
    package enum OutboxState: Sendable, Hashable {
        /// It waits to be published at a time, and may have been published before.
        case waiting(due: Timestamp)
        /// The broker has confirmed it.
        case published
        /// It has no entry: it is final.
        case none
    }

    /// The notification, with the results of its follow-ups.
    package var record: NotificationRecord
    /// The sender's name, as the store keeps it.
    package var sender: String
    /// The number of claims by dispatchers.
    package var attempt: Int
    package var outbox: OutboxState

    package init(record: NotificationRecord, sender: String, attempt: Int, outbox: OutboxState) {
        self.record = record
        self.sender = sender
        self.attempt = attempt
        self.outbox = outbox
    }
}

extension NotificationID {
    /// The smallest ID of a time: every notification that was accepted then or later has this ID or a larger one.
    package static func first(at time: Timestamp) -> NotificationID {
        NotificationID(high: UInt64(clamping: max(0, min(time.milliseconds, 1 << 47))) << 16, low: 0)
    }
}
