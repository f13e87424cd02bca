package import Foundations

/// Asks the hub for the outcomes of the messages that it has accepted (`HUB_TELEMETRY`). Only the Standard tier
/// reports them.
package protocol HubTelemetry: Sendable {
    /// The names of the hubs. Each has a tier, a rule and a throttling of its own, so the questions to one may have to
    /// pause while another answers.
    var hubNames: [String] { get }

    /// The name of a user's hub, one of ``hubNames``.
    func hubName(for recipient: UserName) -> String

    /// The outcome of a message to a user.
    ///
    /// - Returns: `nil` if the hub has no final outcome, or does not know the message: it may be too new or too old.
    /// - Throws: ``PushGatewayError``. The codes `rejected` and `unauthorized` mean that the user's hub tells no
    ///   outcomes at all, because of its tier or the rule of the connection string.
    func outcome(ofMessage id: String, to recipient: UserName) async throws -> MessageOutcome?
}

/// A single hub needs no name.
extension HubTelemetry {
    /// One empty name.
    package var hubNames: [String] { [""] }

    /// The empty name.
    package func hubName(for recipient: UserName) -> String { "" }
}

/// A place in one of the orders in which notifications are looked at: behind the notification with this time and ID.
package struct OutcomeCursor: Sendable, Hashable, Comparable {
    package var time: Timestamp
    package var id: NotificationID

    package init(time: Timestamp, id: NotificationID) {
        self.time = time
        self.id = id
    }

    /// The place before every notification of a time.
    package init(before time: Timestamp) {
        self.init(time: time, id: NotificationID(high: 0, low: 0))
    }

    package static func < (lhs: OutcomeCursor, rhs: OutcomeCursor) -> Bool { (lhs.time, lhs.id) < (rhs.time, rhs.id) }
}

/// One of the times at which the outcome of each push is asked for.
package struct OutcomePass: Sendable, Hashable {
    package enum Order: Sendable, Hashable, CaseIterable {
        /// By ID, which begins with the time of acceptance.
        case accepted
        /// By `NotBefore`; only the notifications that have one.
        case scheduled
    }

    package var order: Order
    /// How long after a notification became due the outcome of its messages is asked for.
    package var delay: Duration

    /// All passes. Their positions are stored: add new ones at the end.
    package static let all: [OutcomePass] = Order.allCases.flatMap { order in
        OutcomePolicy.delays.map { OutcomePass(order: order, delay: $0) }
    }
}

/// When and how much is asked.
package enum OutcomePolicy {
    /// How long after a notification became due the hub is asked. The hub needs at least 10 s, and is done after 30
    /// minutes (Azure: "Get notification message telemetry"). The last time is for pushes that had to be tried again.
    package static let delays: [Duration] = [.seconds(15), .seconds(60), .seconds(300), .seconds(1800), .seconds(7200)]
    /// The youngest message that the hub is asked about.
    package static let minAge = Duration.seconds(10)
    /// The maximum number of rows that one page examines.
    package static let maxScan = 1000
}

/// A query for notifications with a delivery whose outcome is not known.
package struct OutcomeQuery: Sendable, Hashable {
    package var order: OutcomePass.Order
    package var after: OutcomeCursor
    /// The page ends before notifications that became due at this time or later.
    package var before: Timestamp
    /// The maximum number of notifications in a page, at least 1.
    package let limit: Int

    package init(order: OutcomePass.Order, after: OutcomeCursor, before: Timestamp, limit: Int) {
        self.order = order
        self.after = after
        self.before = before
        self.limit = max(limit, 1)
    }
}

/// A page of notifications with a delivery whose outcome is not known, in their order.
package struct OutcomePage: Sendable, Hashable {
    package var entries: [AwaitedOutcome]
    package var next: OutcomeCursor
    /// Whether there is nothing more before ``OutcomeQuery/before``.
    package var isEnd: Bool

    package init(entries: [AwaitedOutcome], next: OutcomeCursor, isEnd: Bool) {
        self.entries = entries
        self.next = next
        self.isEnd = isEnd
    }
}

/// A notification with a delivery whose outcome is not known.
package struct AwaitedOutcome: Sendable, Hashable {
    package var cursor: OutcomeCursor
    package var recipient: UserName
    /// The newest claim. After a later claim the outcome is not stored.
    package var attempt: Int
    package var deliveries: [Delivery]

    package init(cursor: OutcomeCursor, recipient: UserName, attempt: Int, deliveries: [Delivery]) {
        self.cursor = cursor
        self.recipient = recipient
        self.attempt = attempt
        self.deliveries = deliveries
    }

    package var id: NotificationID { cursor.id }
}

package struct DeliveryOutcomes: Sendable, Hashable {
    package var id: NotificationID
    /// The claim that was the newest when the deliveries were read.
    package var attempt: Int
    package var deliveries: [Delivery]

    package init(id: NotificationID, attempt: Int, deliveries: [Delivery]) {
        self.id = id
        self.attempt = attempt
        self.deliveries = deliveries
    }
}

extension Delivery {
    /// Whether the hub can be asked for the outcome of the message.
    package var awaitsOutcome: Bool {
        state == .sent && outcome.map(MessageOutcome.isOpen) ?? true && hubMessageID != nil
    }
}
