import Domain
import Foundations

extension Store {
    /// The form with a callback, called from a task. A callback that came twice would trap.
    func markReadByCallback(_ id: NotificationID, at time: Timestamp) async throws {
        try await withCheckedThrowingContinuation { caller in
            markRead(id, at: time) { caller.resume(with: $0) }
        }
    }
}
