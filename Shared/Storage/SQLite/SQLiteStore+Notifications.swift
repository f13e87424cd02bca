import SecurePushCore

extension SQLiteStore: NotificationWriter {
    func append(_ notifications: [SealedNotification]) async throws {
        _ = try await submit(notifications.map { .append($0) })
    }
}

extension SQLiteStore: PayloadReader {
    func find(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? {
        try checkRunning()
        return try await finds.submit([SQLiteFind(id: id, recipient: recipient)])[0]
    }

    func markRead(_ id: NotificationID, at time: Timestamp) async throws {
        _ = try await submit([.markRead(id, time)])
    }
}
