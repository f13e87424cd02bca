import SecurePushCore
import Synchronization

/// One claimed notification on its way through the hub: collects the answers of its platforms.
///
/// The lanes answer on the gateway's threads; the last answer completes the attempt.
final class DispatchAttempt: Sendable {
    let delivery: DispatchDelivery
    let message: DispatchMessage
    let plan: DispatchPlan
    let platforms: [Platform]

    private struct State {
        var answers: [LaneAnswer?]
        var missing: Int
    }

    private let state: Mutex<State>

    init(delivery: DispatchDelivery, message: DispatchMessage, plan: DispatchPlan, platforms: [Platform]) {
        self.delivery = delivery
        self.message = message
        self.plan = plan
        self.platforms = platforms
        state = Mutex(State(answers: Array(repeating: nil, count: platforms.count), missing: platforms.count))
    }

    /// Notes the answer for the platform at this index; `true` for the last one.
    func complete(_ index: Int, _ answer: LaneAnswer) -> Bool {
        state.withLock { state in
            guard state.answers[index] == nil else { return false }
            state.answers[index] = answer
            state.missing -= 1
            return state.missing == 0
        }
    }

    /// The answers, once all are there.
    var answers: [(platform: Platform, answer: LaneAnswer)] {
        let answers = state.withLock { $0.answers }
        return zip(platforms, answers).compactMap { platform, answer in answer.map { (platform, $0) } }
    }
}
