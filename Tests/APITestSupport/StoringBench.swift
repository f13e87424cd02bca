package import Domain
import Foundations

/// A bench whose tests put notifications and their deliveries into its store.
package protocol StoringBench: Sendable {
    var store: any Store { get }
    /// Of each notification.
    var payload: [UInt8] { get }
}

extension StoringBench {
    /// Stores a notification of `clinic` for `alice`, unless a test changes it.
    package func stored(_ change: (inout Domain.Notification) -> Void = { _ in }) async throws -> NotificationID {
        var notification = Domain.Notification(
            sender: "clinic", recipient: UserName("alice")!, expiresAt: .now + .seconds(600))
        change(&notification)
        let sealed = SealedPayload(keyID: "k", bytes: payload)
        try await store.append([SealedNotification(notification: notification, payload: sealed)])
        return notification.id
    }

    /// Puts an attempt's deliveries on record, as a dispatcher does.
    package func record(_ deliveries: [Delivery], of id: NotificationID) async throws {
        let attempt = try await store.claim([id], now: .now)[id]?.attempt ?? 0
        try await store.record([DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)])
    }
}
