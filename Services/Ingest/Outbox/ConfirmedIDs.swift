import SecurePushCore
import Synchronization

/// IDs that the broker has confirmed, until it is time to note it in the outbox.
///
/// Nearly all of them are dispatched before that time, and their entries are gone then: noting each at once would cost
/// every notification one more version of its row. A process that dies with them leaves entries that look unpublished;
/// the sweep publishes again those of them that no dispatcher has claimed.
final class ConfirmedIDs: Sendable {
    private struct Group {
        var time: ContinuousClock.Instant
        var ids: [NotificationID]
    }

    private struct State {
        /// In the order of their confirms.
        var groups: [Group] = []
        var count = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: how many are kept; beyond it the oldest are taken before their time.
    init(limit: Int) { self.limit = limit }

    /// Keeps IDs until a time.
    func keep(_ ids: [NotificationID], until time: ContinuousClock.Instant) {
        guard !ids.isEmpty else { return }
        state.withLock { state in
            state.groups.append(Group(time: time, ids: ids))
            state.count += ids.count
        }
    }

    /// Takes out those whose time has come, and what is too many.
    func take(at now: ContinuousClock.Instant) -> [NotificationID] {
        state.withLock { state in
            var taken: [NotificationID] = []
            state.groups.removeAll { group in
                guard group.time <= now || state.count > limit else { return false }
                state.count -= group.ids.count
                taken += group.ids
                return true
            }
            return taken
        }
    }

    /// Takes out all.
    func takeAll() -> [NotificationID] {
        state.withLock { state in
            defer { state = State() }
            return state.groups.flatMap(\.ids)
        }
    }
}
