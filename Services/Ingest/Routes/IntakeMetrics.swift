import Metrics
import SecurePushCore

/// What was answered with 201.
struct IntakeMetrics: Sendable {
    private let bySenders = counter("sender", "created")
    private let byUsers = counter("user", "created")
    private let replayed = counter("sender", "replayed")
    private let replayedByUsers = counter("user", "replayed")

    private static func counter(_ caller: String, _ result: String) -> Counter {
        Counter(
            label: "securepush_notifications_accepted_total", dimensions: [("caller", caller), ("result", result)])
    }

    func created(_ notifications: [Notification]) {
        // All of one call have one sender.
        guard let first = notifications.first else { return }
        let counter = CallerAuthentication.Caller.isUser(first.sender) ? byUsers : bySenders
        counter.increment(by: notifications.count)
    }

    /// A request whose answer was given once more.
    func replayed(_ key: IdempotentRequest.Key) {
        (CallerAuthentication.Caller.isUser(key.sender) ? replayedByUsers : replayed).increment()
    }
}
