package import Foundations

/// A notification whose ID has to be published.
package struct OutboxEntry: Sendable, Hashable {
    package var id: NotificationID
    /// Its trace; see ``Notification/traceparent``.
    package var traceparent: String?
    /// The follow-up that is due; `nil` for the notification's own push.
    package var kind: FollowUp.Kind?
    /// See ``DispatchMessage/isFirst``. Never of an entry that was leased.
    package var isFirst: Bool

    package init(
        id: NotificationID, traceparent: String? = nil, kind: FollowUp.Kind? = nil, isFirst: Bool = false
    ) {
        self.id = id
        self.traceparent = traceparent
        self.kind = kind
        self.isFirst = isFirst
    }
}

package struct OutboxBacklog: Sendable, Hashable {
    /// The number of unpublished entries.
    package var count: Int
    /// Since when the oldest entry that has fallen due could have been published: the creation of its notification, or
    /// `NotBefore`; `nil` if none has. An entry that is leased counts until the broker has confirmed it. Otherwise one
    /// that the broker refuses again and again would never be seen.
    package var oldest: Timestamp?

    package init(count: Int, oldest: Timestamp?) {
        self.count = count
        self.oldest = oldest
    }
}

/// Who publishes the ID of a notification that is sent again.
package enum Republishing: Sendable, Hashable {
    /// The caller, at once: the outbox entry counts as published, and is due ``OutboxPolicy/redelivery`` later.
    case caller
    /// The relay of an ingest: the outbox entry is due at once, with this trace, or the notification's own.
    case relay(traceparent: String?)
}

/// The result of a sweep of published entries.
package struct PublishedLease: Sendable, Hashable {
    /// The entries to publish again, the oldest first.
    package var entries: [OutboxEntry]
    /// The number of entries that were examined, with those that were postponed or removed. If it is the limit, there
    /// may be more.
    package var examined: Int

    package init(entries: [OutboxEntry] = [], examined: Int = 0) {
        self.entries = entries
        self.examined = examined
    }
}

/// When outbox entries become due.
///
/// Decision: docs/decisions/0001-state-in-the-database.md
package enum OutboxPolicy {
    /// How long only the process that stored an entry may publish it.
    package static let grace = Duration.seconds(5)

    /// How long after it was published, or after it left a delay queue, an unsettled notification may be published
    /// again. Longer than the broker needs to requeue the messages of a consumer that vanished (two heartbeats, 20 s)
    /// and to deliver them to another consumer.
    package static let redelivery = Duration.seconds(30)

    /// How long a dispatcher may work on a claim: the wait for a slot, the hub's deadline (10 s), and some seconds in
    /// which the store may be unavailable for the outcome. The limit is several times that. A limit that is too short
    /// makes two dispatchers send the same notification. One that is too long only delays a notification whose ID was
    /// lost while its dispatcher died.
    package static let attemptLimit = Duration.seconds(60)

    /// How long a dispatcher may work on an open first attempt (``DispatchStore/begin(_:now:)``) before it enters that
    /// in the row. Most attempts are over by then and cost no such write.
    package static let entry = Duration.seconds(1)

    /// How long the sweep waits once more before it publishes a notification whose first attempt is open; and how long
    /// before its entry is due a first attempt can begin without a write. Longer than ``entry`` and the time in which a
    /// dispatcher is connected again after the store was unavailable.
    package static let notice = Duration.seconds(3)

    /// How far ahead of its `NotBefore` a message may arrive and still wait in the dispatcher: the clock of the process
    /// that published it may be ahead of the dispatcher's. A message that is earlier than that is dropped.
    package static let clockDifference = redelivery

    /// `NotBefore` if it is set and later than the creation, else the creation plus the grace time.
    package static func due(of notification: Notification) -> Timestamp {
        if let notBefore = notification.notBefore, notBefore > notification.createdAt { return notBefore }
        return notification.createdAt + grace
    }

    /// When the work on a claim ends at the latest; `nil` if it has ended by `now`. A claim with a time in the future,
    /// from a clock that is ahead, counts as made at `now`.
    package static func end(ofClaimAt claim: Timestamp?, now: Timestamp) -> Timestamp? {
        guard let claim, claim > now - attemptLimit else { return nil }
        return min(claim, now) + attemptLimit
    }
}
