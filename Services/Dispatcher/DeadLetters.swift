import Logging
import SecurePushCore
import Synchronization

/// Tells operators that notifications are given up: the first of each reason, then one line a minute and reason with
/// how many there were since.
final class DeadLetterLog: Sendable {
    private struct Entry {
        var logged: ContinuousClock.Instant
        var count = 0
    }

    private static let interval = Duration.seconds(60)

    /// By the label of the metric, so that it is bounded.
    private let entries = Mutex<[String: Entry]>([:])
    private let now: @Sendable () -> ContinuousClock.Instant

    /// - Parameter now: the clock; tests bring their own.
    init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

    /// Notes a letter, and logs it where a line of its reason is due.
    func note(_ letter: DeadLetterDraft, _ logger: Logger) {
        let label = letter.cause.label
        let time = now()
        let count = entries.withLock { entries -> Int? in
            guard var entry = entries[label], entry.logged.duration(to: time) < Self.interval else {
                let count = (entries[label]?.count ?? 0) + 1
                entries[label] = Entry(logged: time)
                return count
            }
            entry.count += 1
            entries[label] = entry
            return nil
        }
        guard let count else { return }
        logger.warning(
            "Notifications are given up and go to the dead-letter queue",
            metadata: [
                "reason": "\(label)", "count": "\(count)", "notification_id": "\(letter.message.id)",
                "error": "\(letter.reason)",
            ])
    }
}
