import SecurePushCore

/// One change of the database, of those that are committed in groups.
enum SQLiteWrite: Sendable {
    case append(SealedNotification)
    case markRead(NotificationID, Timestamp)
    case claim(NotificationID)
    case record(DispatchOutcome)
    case lease(limit: Int, now: Timestamp, until: Timestamp)
    case remove(NotificationID)
    case save(Registration)
    case removeRegistration(String)

    /// What a change answers.
    enum Output: Sendable {
        case done
        /// `nil` for an unknown ID.
        case claimed(SQLiteClaim?)
        case leased([OutboxEntry])
    }
}
