/// The notifications that the broker is to hand to a dispatcher: the transactional outbox.
///
/// An entry is made with its notification (``NotificationWriter/append(_:)``) and lives until nothing more is to be
/// done for it: ``DispatchStore/record(_:)`` of a final outcome takes it out, and so do revoking and the purge. The
/// broker is a fast hint: whatever it loses is still here.
///
/// An entry is first unpublished. The process that made it hands the ID to its relay in memory, and the entry falls due
/// only after a grace time (``OutboxPolicy/grace``), or at `NotBefore`. Once the broker has confirmed the ID the entry
/// is published, and falls due again at a time at which it should long have been settled. What is due is leased by
/// whichever process sweeps first, and falls due again when the lease ends.
public protocol Outbox: Sendable {
    /// Leases up to `limit` unpublished entries that are due at `now`, the oldest first, and makes them due again at
    /// `until`. Entries of notifications that have expired or were revoked are leased too: the dispatcher settles them.
    /// Two concurrent calls never lease one entry (`SKIP LOCKED`, or the store's writer lock).
    ///
    /// What a dispatcher has claimed within ``OutboxPolicy/attemptLimit`` was published, whatever its entry says, by a
    /// process that died before it could say so: it is not leased but published from then on, and due again when that
    /// time is over. Entries of notifications that are final are removed, unleased.
    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry]

    /// Notes that the broker has confirmed these IDs: their entries are published and due again at `until`. IDs without
    /// an entry, and those that are published already, are left as they are.
    func confirm(_ ids: [NotificationID], until: Timestamp) async throws

    /// Leases up to `limit` published entries that fell due by `due`, the oldest first, and makes them due again at
    /// `until`. To be called only when the broker evidently does not hold them.
    ///
    /// What a dispatcher has claimed within ``OutboxPolicy/attemptLimit`` before `now` is postponed instead, until that
    /// time is over; entries of notifications that are final, which a dispatcher of an earlier version leaves behind,
    /// are removed.
    func leasePublished(limit: Int, due: Timestamp, now: Timestamp, until: Timestamp) async throws -> PublishedLease

    /// What waits to be published, for metrics and readiness: all unpublished entries, and the oldest that is due.
    func backlog(now: Timestamp) async throws -> OutboxBacklog
}

/// What a look at the published entries gave.
public struct PublishedLease: Sendable, Hashable {
    /// What is to be published again, the oldest first.
    public var entries: [OutboxEntry]
    /// How many entries were looked at, those that were postponed or removed included: as many as asked for says that
    /// there may be more.
    public var examined: Int

    public init(entries: [OutboxEntry] = [], examined: Int = 0) {
        self.entries = entries
        self.examined = examined
    }
}

/// When outbox entries fall due.
public enum OutboxPolicy {
    /// How long the process that stored an entry has to publish it before others may.
    public static let grace = Duration.seconds(5)

    /// How long after it was published, or was to come out of a delay queue, a notification that is not settled may be
    /// published again. Longer than the broker needs to take an ID back from a consumer that is gone without a word
    /// (two heartbeats, 20 s) and to hand it to another.
    public static let redelivery = Duration.seconds(30)

    /// How long a claim may be at work: the wait for a slot, the hub's deadline (10 s), and some seconds for a store
    /// that is away while the outcome is to be recorded; several times that, for whoever publishes earlier makes two
    /// dispatchers send the same notification, and whoever publishes later only delays one whose ID was lost and whose
    /// dispatcher died at the same time.
    public static let attemptLimit = Duration.seconds(60)

    /// `NotBefore` where given and later than the creation, else the creation and the grace time.
    public static func due(of notification: Notification) -> Timestamp {
        if let notBefore = notification.notBefore, notBefore > notification.createdAt { return notBefore }
        return notification.createdAt + grace
    }

    /// When a claim that is still at work at `now` must be over; `nil` if it must be over by now. A claim by a clock
    /// that is ahead counts as made at `now`.
    public static func end(ofClaimAt claim: Timestamp?, now: Timestamp) -> Timestamp? {
        guard let claim, claim > now - attemptLimit else { return nil }
        return min(claim, now) + attemptLimit
    }
}
