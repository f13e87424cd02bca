import Foundations
import Synchronization

/// Counts pushes.
final class PushesInFlight: Sendable {
    private struct State: Sendable {
        var count = 0
        var waiters = WaitList<Void>()
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    func enter() { state.withLock { $0.count += 1 } }

    func leave() {
        let waiters = state.withLock { state in
            state.count -= 1
            return state.count == 0 ? state.waiters.removeAll() : []
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until there is none, or the task is cancelled.
    func waitUntilNone() async { try? await state.wait(in: \.waiters) { $0.count == 0 ? () : nil } }
}
