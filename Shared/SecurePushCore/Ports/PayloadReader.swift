/// The device's side of the store.
public protocol PayloadReader: Sendable {
    /// The notification with this ID if it belongs to this user; `nil` if it is not there or is another's, which
    /// cannot be told apart: ownership is part of the query.
    func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification?

    /// Sets the time of the first reading; a later call changes nothing.
    func markRead(_ id: NotificationID, at time: Timestamp) async throws
}
