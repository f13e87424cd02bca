/// The IDs whose publishing the broker has not confirmed: the transactional outbox.
///
/// An entry is made with its notification (``NotificationWriter/append(_:)``). The process that made it hands the ID to
/// its relay in memory and the entry falls due only after a grace time (``OutboxPolicy/grace``), or at `NotBefore`;
/// what is due is leased by whichever process sweeps first, and falls due again when the lease ends unfinished.
public protocol Outbox: Sendable {
    /// Leases up to `limit` entries that are due at `now`, the oldest first, and makes them due again at `until`.
    /// Entries of notifications that have expired or were revoked are leased too: the dispatcher settles them.
    /// Two concurrent calls never lease one entry (`SKIP LOCKED`, or the store's writer lock).
    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry]

    /// Forgets entries that the broker has confirmed; unknown IDs are ignored.
    func remove(_ ids: [NotificationID]) async throws

    /// What waits, for metrics and readiness: all entries, and the oldest that is due.
    func backlog(now: Timestamp) async throws -> OutboxBacklog
}

/// When a new outbox entry falls due for the sweep.
public enum OutboxPolicy {
    /// How long the process that stored an entry has to publish it before others may.
    public static let grace = Duration.seconds(5)

    /// `NotBefore` where given and later than the creation, else the creation and the grace time.
    public static func due(of notification: Notification) -> Timestamp {
        if let notBefore = notification.notBefore, notBefore > notification.createdAt { return notBefore }
        return notification.createdAt + grace
    }
}
