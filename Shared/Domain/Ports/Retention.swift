/// How long data is kept after it has expired.
package enum RetentionPolicy {
    /// How long the row of a notification is kept after its expiry, so that its owner gets 410 and its sender a status.
    package static let tombstone = Duration.seconds(30 * 86400)
}

/// The result of one batch of purging.
package struct PurgeReport: Sendable, Equatable {
    /// The number of payloads whose ciphertext was destroyed.
    package var payloads: Int
    /// The number of answers whose text was destroyed.
    package var answers: Int
    package var notifications: Int
    package var keys: Int
    /// Why rows were left that are due: the database refused to change them.
    package var refusal: StorageError?

    package init(payloads: Int = 0, answers: Int = 0, notifications: Int = 0, keys: Int = 0) {
        self.payloads = payloads
        self.answers = answers
        self.notifications = notifications
        self.keys = keys
    }

    /// The largest of the four. If it is the limit, there may be more.
    package var largest: Int { max(payloads, answers, notifications, keys) }
}
