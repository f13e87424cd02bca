import Domain
import Foundations

/// The functions with callbacks, called from a task. A callback that came twice would trap.
extension Store {
    func appendByCallback(_ notifications: [SealedNotification]) async throws {
        try await withCheckedThrowingContinuation { caller in
            append(notifications) { caller.resume(with: $0) }
        }
    }

    func findByCallback(_ id: NotificationID, recipient: UserName) async throws -> StoredNotification? {
        try await withCheckedThrowingContinuation { caller in
            find(id, recipient: recipient) { caller.resume(with: $0) }
        }
    }

    func markReadByCallback(_ id: NotificationID, at time: Timestamp) async throws {
        try await withCheckedThrowingContinuation { caller in
            markRead(id, at: time) { caller.resume(with: $0) }
        }
    }
}
