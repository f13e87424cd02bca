import Foundations
import Storage
import Synchronization

/// The pushes of a send while it waits for the push services, and their answers afterwards.
///
/// It decides once for each push whether the waiting send ends it, or, if the answer comes later, the row that the send
/// has stored.
final class PushBatch: Sendable {
    enum Stage: Sendable {
        case queued
        /// The push service has it, or is about to get it.
        case pushing
        case ended(PushVerdict)

        /// `nil` while it is in flight.
        var verdict: PushVerdict? { if case .ended(let verdict) = self { verdict } else { nil } }
    }

    /// An answer to a push that was stored meanwhile.
    struct Late: Sendable {
        var row: HubPush
        var verdict: PushVerdict
    }

    private enum Custody: Sendable {
        /// The send waits.
        case waiting
        /// The send stores the pushes that have not ended.
        case storing
        /// By the places in the batch.
        case stored([Int: HubPush])
        /// The send was refused, and its caller tries again.
        case refused
    }

    private struct State: Sendable {
        var stages: [Stage]
        var missing: Int
        var hasTimedOut = false
        var custody = Custody.waiting
        var waiters = WaitList<Void>()
        /// Answers that came while the rows were being stored.
        var late: [(index: Int, verdict: PushVerdict)] = []
    }

    private let state: Mutex<State>

    init(count: Int) {
        state = Mutex(State(stages: Array(repeating: .queued, count: count), missing: count))
    }

    /// The turn of a push has come.
    ///
    /// - Returns: `false` if the send does not wait any more: the push is in the store, or its caller tries again.
    func begin(_ index: Int) -> Bool {
        state.withLock { state in
            guard case .waiting = state.custody else { return false }
            state.stages[index] = .pushing
            return true
        }
    }

    /// A push has ended.
    ///
    /// - Returns: the row that has to be ended with it, if the send has stored one.
    func end(_ index: Int, _ verdict: PushVerdict) -> Late? {
        let (late, waiters) = state.withLock { state -> (Late?, [WaitList<Void>.Waiter]) in
            switch state.custody {
            case .waiting:
                state.stages[index] = .ended(verdict)
                state.missing -= 1
                return (nil, state.missing == 0 ? state.waiters.removeAll() : [])
            case .storing:
                if case .pushing = state.stages[index] { state.late.append((index, verdict)) }
                return (nil, [])
            case .stored(let rows):
                guard case .pushing = state.stages[index], let row = rows[index] else { return (nil, []) }
                return (Late(row: row, verdict: verdict), [])
            case .refused: return (nil, [])
            }
        }
        for waiter in waiters { waiter.resume() }
        return late
    }

    /// Waits until all pushes have ended, until a deadline at most. It ends early if the task is cancelled.
    func wait(until deadline: ContinuousClock.Instant, _ deadlines: SendDeadlines) async {
        let number = deadlines.add(deadline) {
            let waiters = self.state.withLock { state in
                state.hasTimedOut = true
                return state.waiters.removeAll()
            }
            for waiter in waiters { waiter.resume() }
        }
        try? await state.wait(in: \.waiters) { $0.missing == 0 || $0.hasTimedOut ? () : nil }
        deadlines.remove(number)
    }

    /// The send stops waiting. From now on no push begins.
    func handOver() -> [Stage] {
        state.withLock { state in
            state.custody = .storing
            return state.stages
        }
    }

    /// The send has stored these rows, by the places of their pushes.
    ///
    /// - Returns: the answers that came meanwhile.
    func stored(_ rows: [Int: HubPush]) -> [Late] {
        state.withLock { state in
            state.custody = .stored(rows)
            defer { state.late = [] }
            return state.late.compactMap { late in rows[late.index].map { Late(row: $0, verdict: late.verdict) } }
        }
    }

    /// The send was refused. Later answers are ignored.
    func refuse() { state.withLock { $0.custody = .refused } }
}
