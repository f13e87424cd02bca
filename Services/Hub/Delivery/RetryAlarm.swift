import Foundations
import Synchronization

/// Wakes ``RetryService`` when a push falls due before it would look again.
final class RetryAlarm: Sendable {
    private struct State: Sendable {
        /// The earliest time that was rung since the last wait.
        var due: Timestamp?
        var waiters = WaitList<Void>()
        /// The last sleep, and the last one that is over.
        var begun = 0
        var ended = 0
    }

    private let state = Mutex(State())

    /// A push falls due at a time.
    func ring(by due: Timestamp) {
        let waiters = state.withLock { state -> [WaitList<Void>.Waiter] in
            if let known = state.due, known <= due { return [] }
            state.due = due
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for a time, until a push falls due, or until the task is cancelled.
    func wait(for time: Duration, _ clock: DeliveryClock) async {
        let end = clock.now() + time
        while !Task.isCancelled {
            let now = clock.now()
            let next = state.withLock { state -> Timestamp? in
                let until = min(state.due ?? end, end)
                if until > now { return until }
                state.due = nil
                return nil
            }
            guard let until = next else { return }
            let sleep = state.withLock { state in
                state.begun += 1
                return state.begun
            }
            let timer = Task {
                try? await clock.sleep(until - now)
                wake(after: sleep)
            }
            // Ends with the sleep, or when an earlier time is rung.
            try? await state.wait(in: \.waiters) { state in
                state.ended == sleep || min(state.due ?? end, end) < until ? () : nil
            }
            timer.cancel()
        }
    }

    private func wake(after sleep: Int) {
        let waiters = state.withLock { state in
            state.ended = max(state.ended, sleep)
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }
}
