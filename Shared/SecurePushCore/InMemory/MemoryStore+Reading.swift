extension MemoryStore {
    public func find(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: StoredNotification] {
        var found: [NotificationID: StoredNotification] = [:]
        for id in ids { found[id] = try await find(id, recipient: recipient) }
        return found
    }

    public func states(
        _ ids: [NotificationID], recipient: UserName
    ) async throws -> [NotificationID: ReadingState] {
        try await find(ids, recipient: recipient).mapValues(\.state)
    }

    public func markShown(_ id: NotificationID, at time: Timestamp) async throws {
        if rows[id]?.shownAt == nil { rows[id]?.shownAt = time }
    }

    public func unreadCount(of recipient: UserName, now: Timestamp) async throws -> Int {
        try await inbox(of: recipient, unreadOnly: true, after: nil, limit: 0, now: now).unread
    }
}
