package import Foundations

extension NotificationReader {
    /// Sets the time of the first reading of one notification. A later call changes nothing.
    package func markRead(_ id: NotificationID, at time: Timestamp) async throws {
        try await markRead([id], at: time)
    }

    /// Marks those of these notifications as read that are unread in this user's inbox.
    ///
    /// Others change nothing, and nothing shows which they were: unknown ones, those of other users, and those that are
    /// expired, revoked or before their `NotBefore`.
    package func markRead(_ ids: [NotificationID], of recipient: UserName, at time: Timestamp) async throws {
        if ids.isEmpty { return }
        let unread = try await states(ids, recipient: recipient).filter { $0.value.isUnread(at: time) }
        if unread.isEmpty { return }
        try await markRead(Array(unread.keys), at: time)
    }

    /// Marks the unread notifications in this user's inbox as read, up to and including one of this user.
    ///
    /// If there is no such notification, or if it belongs to another user or is before its `NotBefore`, nothing
    /// changes. One that is expired or revoked still marks a place. The work is done in short steps, so a caller that
    /// fails may have marked a part; repeating the call does the rest.
    package func markRead(through last: NotificationID, of recipient: UserName, at time: Timestamp) async throws {
        let state = try await states([last], recipient: recipient)[last]
        guard let state, state.access(at: time) != .absent else { return }
        var after: NotificationID?
        repeat {
            try Task.checkCancellation()
            let page = try await inbox(
                of: recipient, unreadOnly: true, after: after, limit: ReadMarkPolicy.step, now: time)
            let ids = page.entries.map(\.id).filter { $0 <= last }
            if !ids.isEmpty { try await markRead(ids, at: time) }
            after = page.next.flatMap { $0 < last ? $0 : nil }
        } while after != nil
    }
}

/// How many notifications are marked as read at a time.
package enum ReadMarkPolicy {
    /// The maximum number of one request that names them.
    package static let maxIDs = 1000
    /// The maximum number of one step of ``NotificationReader/markRead(through:of:at:)``.
    package static let step = 500
}
