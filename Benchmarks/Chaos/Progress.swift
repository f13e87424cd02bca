import ChaosChecker
import Synchronization

/// How far a run has come, for those who wait for it.
final class Progress: Sendable {
    private struct State {
        var accepted = 0
        var isSendingDone = false
        var holds: [FaultPlan.Target: Int] = [:]
    }

    let count: Int
    private let state = Mutex(State())

    init(count: Int) { self.count = count }

    var accepted: Int { state.withLock { $0.accepted } }
    /// How many of ten thousand parts are accepted; all of them when nothing more will be.
    var parts: Int { state.withLock { $0.isSendingDone ? 10_000 : $0.accepted * 10_000 / count } }

    func accept() { state.withLock { $0.accepted += 1 } }
    func finishSending() { state.withLock { $0.isSendingDone = true } }

    /// While a fault lasts, sending must not pass the time of the target's next one: it would come too late, and at
    /// last when there is nothing left to disturb.
    func hold(_ target: FaultPlan.Target, at parts: Int?) { state.withLock { $0.holds[target] = parts } }

    /// Whether a number may be sent now.
    func allows(_ number: Int) -> Bool {
        state.withLock { state in
            guard let limit = state.holds.values.min() else { return true }
            return number * 10_000 / count <= limit
        }
    }
}
