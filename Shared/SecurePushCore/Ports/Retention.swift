/// Destroys what has outlived its time, in batches that are short enough to stand beside live traffic.
public protocol Retention: Sendable {
    /// Works off one batch of what is due at `now`, at most `limit` rows of each kind; several processes may call it at
    /// the same time and never wait for each other's rows.
    ///
    /// Due are: the ciphertext of notifications that have expired; the rows of notifications whose expiry
    /// is longer ago than ``RetentionPolicy/tombstone``; idempotency keys past their time.
    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport
}

/// How long something is kept after its time.
public enum RetentionPolicy {
    /// How long the row of a notification outlives its expiry, so that its owner hears 410 and its sender a status.
    public static let tombstone = Duration.seconds(30 * 86400)
}

/// What one batch of purging did.
public struct PurgeReport: Sendable, Hashable {
    /// Payloads whose ciphertext was destroyed.
    public var payloads: Int
    /// Notifications whose rows were removed.
    public var notifications: Int
    /// Idempotency keys that were removed.
    public var keys: Int

    public init(payloads: Int = 0, notifications: Int = 0, keys: Int = 0) {
        self.payloads = payloads
        self.notifications = notifications
        self.keys = keys
    }

    /// The largest of the three: a full batch says that there may be more.
    public var largest: Int { max(payloads, notifications, keys) }
}
