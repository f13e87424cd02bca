import DequeModule
import Domain
import Foundations
import Logging
import Synchronization

/// The first attempts that began without a write (``DispatchStore/begin(_:now:)``).
///
/// The outbox does not see them. Those that last longer than ``OutboxPolicy/entry`` are entered in their rows, so that
/// the sweep does not publish the notification a second time. Nearly all are settled by then.
///
/// Decision: docs/decisions/0002-attempt-on-record-before-the-push.md
final class OpenAttempts: Sendable {
    private struct Group {
        var ids: [NotificationID]
        var since: ContinuousClock.Instant
    }

    /// How often it looks. ``OutboxPolicy/notice`` leaves more than a second for that and for the statement.
    private static let interval = Duration.milliseconds(250)

    /// In the order in which they began. The claims of one second bound it.
    private let groups = Mutex<Deque<Group>>([])
    private let problem = LastingProblemLog(
        "Long attempts cannot be entered at the moment", end: "Long attempts are entered again")

    /// Adds attempts that have just begun.
    func add(_ ids: [NotificationID], since: ContinuousClock.Instant) {
        guard !ids.isEmpty else { return }
        groups.withLock { $0.append(Group(ids: ids, since: since)) }
    }

    /// Removes those that began before a time.
    func remove(before time: ContinuousClock.Instant) -> [NotificationID] {
        groups.withLock { groups in
            var removed: [NotificationID] = []
            while let first = groups.first, first.since <= time { removed += groups.removeFirst().ids }
            return removed
        }
    }

    /// Enters those that last long, until it is cancelled. While the store is unavailable, it keeps trying.
    func enterLong(to store: any DispatchStore, _ settler: DispatchSettler, _ logger: Logger) async {
        var late: [NotificationID] = []
        let enter = GroupWrite<NotificationID, Void> {
            try await store.enter($0, now: .now)
        } probe: {
            try await store.enter([NotificationID()], now: .now)
        }
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.interval)
            late = settler.inFlight(of: late + remove(before: .now - OutboxPolicy.entry))
            guard !late.isEmpty else { continue }
            // Attempts that the store refuses to enter are published once more at worst.
            let result = await enter(late)
            late = result.left
            if let error = result.failures.last {
                problem.failed("\(error)", to: logger, metadata: ["count": "\(late.count)"])
            } else {
                problem.succeeded(to: logger)
            }
        }
    }
}
