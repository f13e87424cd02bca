package import Foundations

/// The notifications as ingest writes them, and as its relay publishes them.
package protocol NotificationWriter: Sendable {
    /// Makes notifications durable together with their outbox entries. All of them or none are stored, in one
    /// transaction, which other callers may share (group commit).
    ///
    /// - Parameter completion: called exactly once, after the transaction is on disk or has failed, on any thread, also
    ///   before this returns. It must not block. After a ``StorageError`` nothing is stored, except for the code
    ///   `connectionLost`: the outcome of the commit is unknown, and repeating the call with the same IDs is safe
    ///   because it changes no existing row.
    func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void)

    // At most once per `Idempotency-Key`.

    /// Makes notifications durable like ``NotificationWriter/append(_:)``, and in the same transaction the key with the
    /// answer to repeat. If the key exists and has not expired at `now`, nothing is stored.
    ///
    /// This holds across processes: of two concurrent calls the second waits for the transaction of the first. There is
    /// no reservation before the transaction, so a process that dies leaves no key that is neither done nor free.
    ///
    /// - Returns: `nil` after everything is on disk, or the earlier request that has the key.
    /// - Throws: ``StorageError``, as ``NotificationWriter/append(_:)``.
    func append(
        _ notifications: [SealedNotification], once request: IdempotentRequest, now: Timestamp
    ) async throws -> IdempotentRequest?

    /// The request that has this key and has not expired at `now`.
    func request(_ key: IdempotentRequest.Key, now: Timestamp) async throws -> IdempotentRequest?

    // The notifications that the broker has to deliver to a dispatcher: the transactional outbox.
    //
    // An entry is created with its notification (``NotificationWriter/append(_:)``) and lives until the notification
    // is final: ``DispatchStore/record(_:)`` of a final outcome removes it, and so do revoking and purging. Nothing is
    // lost if the broker loses messages, because the entries are still here.
    //
    // An entry is unpublished at first. The process that stored it passes the ID to its relay in memory. The entry
    // becomes due only after a grace time (``OutboxPolicy/grace``), or at `NotBefore`. When the broker has confirmed
    // the ID, the entry is published, and becomes due again at a time when it should have been settled long ago. The
    // first process that sweeps leases the due entries; they become due again when the lease ends.

    /// Leases up to `limit` unpublished entries that are due at `now`, the oldest first, and makes them due again at
    /// `until`. Two concurrent calls never lease the same entry (`SKIP LOCKED`, or the store's writer lock). Entries of
    /// expired and revoked notifications are leased too: the dispatcher settles them.
    ///
    /// If a dispatcher has claimed a notification within ``OutboxPolicy/attemptLimit``, it was published, even if its
    /// entry is unpublished because the publishing process died. Such an entry is not leased. It becomes published, and
    /// due again when that time has passed. Entries of final notifications are removed without a lease.
    ///
    /// If the first attempt is open (``DispatchStore/begin(_:now:)``), a dispatcher may be working on it although its
    /// row does not show it. The first call that finds such an entry only gives notice: the entry is due again after
    /// ``OutboxPolicy/notice``. The store can be reached then, so a dispatcher enters its work within that time.
    func lease(limit: Int, now: Timestamp, until: Timestamp) async throws -> [OutboxEntry]

    /// Stores that the broker has confirmed these IDs: their entries become published and due again at `until`. IDs
    /// without an entry stay unchanged, and so do entries that are published already or that wait for their time
    /// (``DispatchOutcome/dueAgain``): the dispatcher was faster than the confirm.
    func confirm(_ ids: [NotificationID], until: Timestamp) async throws

    /// Leases up to `limit` published entries that were due by `due`, the oldest first, and makes them due again at
    /// `until`. Call it only when there is evidence that the broker does not hold them.
    ///
    /// Entries that a dispatcher has claimed within ``OutboxPolicy/attemptLimit`` before `now` are postponed until that
    /// time has passed. Entries of final notifications, which dispatchers of an earlier version leave behind, are
    /// removed. Entries whose first attempt is open become unpublished and are due after ``OutboxPolicy/notice``.
    func leasePublished(limit: Int, due: Timestamp, now: Timestamp, until: Timestamp) async throws -> PublishedLease

    /// The unpublished entries, for metrics and readiness.
    func backlog(now: Timestamp) async throws -> OutboxBacklog

    // The follow-ups that have to reach a dispatcher.

    /// Leases up to `limit` follow-ups that are due at `now`, the oldest first. Each becomes due again after
    /// ``FollowUpPolicy/publishAgain(now:published:)`` unless a dispatcher claims it before. Two concurrent calls never
    /// lease the same one.
    ///
    /// Reminders of notifications that were read or revoked or have expired are not leased, and end here.
    func leaseFollowUps(limit: Int, now: Timestamp) async throws -> [OutboxEntry]
}

extension NotificationWriter {
    /// For callers with a task.
    package func append(_ notifications: [SealedNotification]) async throws {
        try await withCheckedThrowingContinuation { caller in append(notifications) { caller.resume(with: $0) } }
    }
}
