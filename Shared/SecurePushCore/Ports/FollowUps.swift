/// The follow-ups that have to reach a dispatcher, as ingest's relay sees them.
package protocol FollowUpOutbox: Sendable {
    /// Leases up to `limit` follow-ups that are due at `now`, the oldest first. Each becomes due again after
    /// ``FollowUpPolicy/publishAgain(now:published:)`` unless a dispatcher claims it before. Two concurrent calls never
    /// lease the same one.
    ///
    /// Reminders of notifications that were read or revoked or have expired are not leased, and end here.
    func leaseFollowUps(limit: Int, now: Timestamp) async throws -> [OutboxEntry]
}

/// The follow-ups as the dispatcher uses them.
///
/// The rows are made elsewhere: a withdrawal by the later one of ``DispatchStore/record(_:)`` and
/// ``SenderNotifications/revoke(_:sender:now:)`` or ``PayloadReader/markRead(_:at:)``, in the same transaction; a
/// reminder by ``DispatchStore/record(_:)`` (``DispatchOutcome/pushedAt``). A revocation withdraws every push, a read
/// those whose deliveries say so (``Delivery/isWithdrawnOnRead``). The dispatcher that claims a withdrawal may drop it.
package protocol FollowUpStore: Sendable {
    /// Claims follow-ups in one statement: increments the attempt of each and returns its plan, whose platforms are
    /// those that accepted the push.
    ///
    /// The claim of a reminder uses up its step before anything is sent, and makes the next step due. So no step is
    /// sent twice, whatever is delivered twice; after a crash it is lost. A step can be claimed only while the
    /// notification is neither read nor revoked nor expired. Follow-ups that cannot be claimed are absent from the
    /// answer.
    ///
    /// - Throws: ``StorageError``.
    func claimFollowUps(_ followUps: [FollowUp], now: Timestamp) async throws -> FollowUpClaims

    /// Stores outcomes in one statement, each only if its attempt is still the newest.
    ///
    /// With a next try the follow-up is due again then. A reminder's next try repeats its step, unless the next step is
    /// due by now. Without one, a withdrawal is done.
    ///
    /// A step of a reminder counts as sent (``ReminderProgress/sent``) with its first outcome in which a platform has
    /// accepted it. An outcome that is stored twice counts once.
    func recordFollowUps(_ outcomes: [FollowUpOutcome]) async throws

    /// Ends follow-ups whose rows cannot be read, or that the store refuses for good, after a dead letter was published
    /// for each. Otherwise they would fall due and be dead-lettered again and again. The rest of the rows stays.
    func abandonFollowUps(_ followUps: [FollowUp]) async throws
}
