/// Destroys data that has expired, in batches short enough to run beside live traffic.
package protocol Retention: Sendable {
    /// Purges one batch of what is due at `now`, at most `limit` rows of each kind. Several processes may call it at
    /// the same time; rows locked by another process are skipped.
    /// A row that the database refuses to change keeps no others, see ``PurgeReport/refusal``.
    ///
    /// Due are the ciphertext of expired notifications, the rows of notifications that expired longer ago than
    /// ``RetentionPolicy/tombstone``, and expired idempotency keys.
    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport
}

/// How long data is kept after it has expired.
package enum RetentionPolicy {
    /// How long the row of a notification is kept after its expiry, so that its owner gets 410 and its sender a status.
    package static let tombstone = Duration.seconds(30 * 86400)
}

/// The result of one batch of purging.
package struct PurgeReport: Sendable, Equatable {
    /// The number of payloads whose ciphertext was destroyed.
    package var payloads: Int
    /// The number of notifications whose rows were removed.
    package var notifications: Int
    /// The number of idempotency keys that were removed.
    package var keys: Int
    /// Why rows were left that are due: the database refused to change them.
    package var refusal: StorageError?

    /// Makes a report.
    package init(payloads: Int = 0, notifications: Int = 0, keys: Int = 0) {
        self.payloads = payloads
        self.notifications = notifications
        self.keys = keys
    }

    /// The largest of the three. If it is the limit, there may be more.
    package var largest: Int { max(payloads, notifications, keys) }
}
