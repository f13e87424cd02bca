import SecurePushCore
import Synchronization

/// One claimed notification on its way through the hub: collects the answers of its platforms.
///
/// The gateway calls back on its own threads; the last answer completes the attempt.
final class DispatchAttempt: Sendable {
    let delivery: DispatchDelivery
    let message: DispatchMessage
    let plan: DispatchPlan
    let platforms: [Platform]

    private struct State {
        var outcomes: [SendOutcome?]
        var missing: Int
    }

    private let state: Mutex<State>

    init(delivery: DispatchDelivery, message: DispatchMessage, plan: DispatchPlan, platforms: [Platform]) {
        self.delivery = delivery
        self.message = message
        self.plan = plan
        self.platforms = platforms
        state = Mutex(State(outcomes: Array(repeating: nil, count: platforms.count), missing: platforms.count))
    }

    /// Notes the answer for the platform at this index; `true` for the last one.
    func complete(_ index: Int, _ outcome: SendOutcome) -> Bool {
        state.withLock { state in
            guard state.outcomes[index] == nil else { return false }
            state.outcomes[index] = outcome
            state.missing -= 1
            return state.missing == 0
        }
    }

    /// The answers, once all are there.
    var outcomes: [(platform: Platform, outcome: SendOutcome)] {
        let outcomes = state.withLock { $0.outcomes }
        return zip(platforms, outcomes).compactMap { platform, outcome in outcome.map { (platform, $0) } }
    }
}
