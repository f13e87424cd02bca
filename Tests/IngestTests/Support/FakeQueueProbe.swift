import Domain
import Synchronization

/// A dispatch queue that is as full as a test says.
final class FakeQueueProbe: DispatchQueueProbe {
    private struct State {
        var ready: Int?
        var looks = 0
    }

    private let state: Mutex<State>

    /// - Parameter ready: `nil` for a broker that does not answer.
    init(_ ready: Int? = nil) { state = Mutex(State(ready: ready)) }

    /// How often it was asked.
    var looks: Int { state.withLock { $0.looks } }

    func set(_ ready: Int?) { state.withLock { $0.ready = ready } }

    func readyDispatches() async -> Int? {
        state.withLock { state in
            state.looks += 1
            return state.ready
        }
    }
}
