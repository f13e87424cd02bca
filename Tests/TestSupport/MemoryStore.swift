package import SecurePushCore
import Storage

/// An empty store in memory, which serves requests at once.
package func memoryStore(withdrawals: WithdrawalMode = .revoked) -> any Store {
    do {
        return try openStoreInMemory(withdrawals: withdrawals)
    } catch {
        preconditionFailure("SQLite cannot open a database in memory: \(error)")
    }
}

extension AllNotifications {
    /// How far the dispatching of a notification has come; `nil` for an unknown ID.
    package func status(of id: NotificationID) async throws -> DispatchStatus? {
        try await life(of: id)?.record.dispatchStatus
    }
}
