import Domain
import Foundations
import Synchronization

/// A broker that confirms, refuses or lets wait, as a test says, and remembers what it got and when.
final class FakePublisher: DispatchPublisher {
    struct Record: Sendable {
        var isConnected = true
        /// How often somebody asked whether it is connected.
        var looks = 0
        /// What is not confirmed.
        var refused: Set<NotificationID> = []
        var published: [(id: NotificationID, route: DispatchRoute, at: Timestamp)] = []
        /// Every message that was tried, confirmed or not.
        var tried: [DispatchMessage] = []
        /// The follow-ups among them.
        var followUps: [FollowUp] = []
        fileprivate var isHolding = false
        fileprivate var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<Record>

    init(isConnected: Bool = true, refused: Set<NotificationID> = [], isHolding: Bool = false) {
        state = Mutex(Record(isConnected: isConnected, refused: refused, isHolding: isHolding))
    }

    var record: Record { state.withLock { $0 } }
    var ids: [NotificationID] { record.published.map(\.id) }

    var isConnected: Bool {
        state.withLock { state in
            state.looks += 1
            return state.isConnected
        }
    }

    func connect(_ isConnected: Bool = true) { state.withLock { $0.isConnected = isConnected } }

    /// From now on, what is not confirmed.
    func refuse(_ ids: Set<NotificationID>) { state.withLock { $0.refused = ids } }

    /// Confirms what waits, and from now on at once.
    func release() {
        let waiting = state.withLock { state in
            state.isHolding = false
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.resume() }
    }

    func publish(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>] {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                if state.isHolding { state.waiting.append(continuation) }
                return state.isHolding
            }
            if !waits { continuation.resume() }
        }
        return state.withLock { state in
            messages.map { message, route in
                state.tried.append(message)
                if state.refused.contains(message.id) { return .failure(MessagingError(.nacked, "refused")) }
                state.published.append((message.id, route, .now))
                if let followUp = message.followUp { state.followUps.append(followUp) }
                return .success(())
            }
        }
    }
}
