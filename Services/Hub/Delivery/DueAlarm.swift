import Foundations
import Synchronization

/// Wakes a service when a push or a scheduled send falls due before the service would look again.
final class DueAlarm: Sendable {
    private struct State: Sendable {
        /// The earliest time that was rung since the last wait.
        var due: Timestamp?
        var waiters = WaitList<Void>()
    }

    private let state = Mutex(State())

    /// Something falls due at a time.
    func ring(by due: Timestamp) {
        let waiters = state.withLock { state -> [WaitList<Void>.Waiter] in
            if let known = state.due, known <= due { return [] }
            state.due = due
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Waits for a time, until something falls due, or until the task is cancelled. The wall clock may be set meanwhile,
    /// so the time is measured by the monotonic clock.
    func wait(for time: Duration, _ clock: DeliveryClock) async {
        let end = clock.instant() + time
        while !Task.isCancelled {
            let (due, left) = state.withLock { state in
                let left = min(clock.instant().duration(to: end), state.due.map { $0 - clock.now() } ?? time)
                if left <= .zero { state.due = nil }
                return (state.due, left)
            }
            if left <= .zero { return }
            // Until the time has passed, or an earlier time is rung.
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await clock.sleep(left) }
                group.addTask { try? await self.state.wait(in: \.waiters) { $0.due == due ? nil : () } }
                await group.next()
                group.cancelAll()
            }
        }
    }
}
