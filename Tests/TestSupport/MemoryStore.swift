package import Domain
import StackKit
import Storage

/// An empty store in memory, which serves requests at once.
package func memoryStore(withdrawals: WithdrawalMode = .revoked) -> any Store {
    do {
        return try openStoreInMemory(withdrawals: withdrawals)
    } catch {
        preconditionFailure("SQLite cannot open a database in memory: \(error)")
    }
}

extension OperatorStore {
    /// How far the dispatching of a notification has come; `nil` for an unknown ID.
    package func status(of id: NotificationID) async throws -> DispatchStatus? {
        try await life(of: id)?.record.dispatchStatus
    }
}

/// A store that is away, whatever it is asked.
package struct AwayStore: ForwardingStore {
    package let base = memoryStore()
    private let error: StorageError

    package init(_ error: StorageError = StorageError(.unavailable, "away for the test")) { self.error = error }

    package func check(_ function: String) throws { throw error }
}
