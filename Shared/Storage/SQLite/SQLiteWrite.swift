import SecurePushCore

/// One change of the database, of those that are committed in groups.
enum SQLiteWrite: Sendable {
    case append(SealedNotification)
    case appendOnce([SealedNotification], IdempotentRequest, now: Timestamp)
    case markRead(NotificationID, Timestamp)
    case revoke(NotificationID, sender: String, Timestamp)
    case claim(NotificationID, now: Timestamp)
    case record(DispatchOutcome)
    case abandon(NotificationID)
    case reopen(NotificationReplay.Change, now: Timestamp)
    case lease(SQLiteLease)
    case confirm(NotificationID, until: Timestamp)
    case device(SQLiteDeviceChange)
    case purge(SQLitePurge)

    /// What a change answers.
    enum Output: Sendable {
        case done
        /// `nil` for an unknown ID; a failure for a row that cannot be read, which undoes nothing of the transaction.
        case claimed(Result<SQLiteClaim, StorageError>?)
        /// Whether its attempt was still the newest.
        case recorded(Bool)
        case leased(PublishedLease)
        /// `nil` where the record was changed in the meantime.
        case reopened(NotificationID?)
        /// The request that has the key already; `nil` once everything is stored.
        case earlier(IdempotentRequest?)
        /// Whether the sender has such a notification.
        case revoked(Bool)
        case purged(SQLitePurge.Outcome)
        case deviceLease(DeviceLease.Outcome)
        /// Whether the lease was still held.
        case deviceLeaseEnded(Bool)
        case newHandle(String?)
    }

    /// As how many changes this counts when groups are made.
    var weight: Int {
        switch self {
        case .append(let notification): notification.commitWeight
        case .appendOnce(let notifications, _, _): notifications.reduce(1) { $0 + $1.commitWeight }
        case .purge(let purge): purge.limit
        case .lease(let lease): lease.limit
        default: 1
        }
    }
}
