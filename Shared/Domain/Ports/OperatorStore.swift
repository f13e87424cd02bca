package import Foundations

/// The operators' part of the store: queries, and the purges that keep it small.
package protocol OperatorStore: Sendable {
    // The notifications of all senders, as an operator sees them; never a payload.
    //
    // Every query reads along an index and examines a bounded number of rows, at any size of the store.

    /// Counts the newest notifications that were accepted since a time: at most ``NotificationCensus/maxScan``.
    func census(since: Timestamp, now: Timestamp) async throws -> NotificationCensus

    /// A page of notifications, newest first. It examines at most ``NotificationCensus/maxScan`` rows.
    func page(_ query: OperatorQuery) async throws -> OperatorPage

    /// Everything that is on record of one notification; `nil` for an unknown ID.
    func life(of id: NotificationID) async throws -> NotificationLife?

    // The notifications in the dead-letter queue.

    /// The records of notifications of any sender. An unknown ID is absent.
    func records(_ ids: [NotificationID]) async throws -> [NotificationID: NotificationRecord]

    /// Makes dead platforms pending again, as ``NotificationRecord/reopening(_:now:)`` decides: the notification
    /// becomes queued, its attempt is incremented so that an earlier outcome cannot overwrite it, and the outbox gets
    /// an entry for whoever publishes the message.
    ///
    /// A caller that publishes calls it before. Repeating it is harmless.
    ///
    /// - Parameter letters: the platforms that each notification's dead letter names; empty if it names none.
    /// - Returns: the decision for each; an unknown ID is absent.
    func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp, publishedBy publisher: Republishing
    ) async throws -> [NotificationID: ReplayDecision]

    // Which payload keys are needed.

    /// Counts the payloads and the texts of answers that can still be read at `now` by their keys, among the next
    /// `limit` that were accepted after a notification; `nil` begins with the oldest.
    func payloadKeys(after: NotificationID?, limit: Int, now: Timestamp) async throws -> PayloadKeyPage

    // What destroys data that has expired, in batches short enough to run beside live traffic.

    /// Purges one batch of the rows that are due at `now`, at most `limit` rows of each kind. Several processes may
    /// call it at the same time; rows locked by another process are skipped. A row that the database refuses to change
    /// keeps no others, see ``PurgeReport/refusal``.
    ///
    /// Due are the ciphertext of expired notifications, the texts of answers (``Question/textRetention``), the rows of
    /// notifications that expired longer ago than ``RetentionPolicy/tombstone``, and expired idempotency keys.
    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport
}

extension OperatorStore {
    /// For a caller that publishes the messages itself.
    package func reopen(
        _ letters: [NotificationID: [Platform]], now: Timestamp
    ) async throws -> [NotificationID: ReplayDecision] {
        try await reopen(letters, now: now, publishedBy: .caller)
    }
}
