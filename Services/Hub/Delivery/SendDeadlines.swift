import Synchronization

/// The deadlines of the sends that wait for push services.
///
/// One task sleeps for all of them, because a timer for each of thousands of sends per second costs too much.
final class SendDeadlines: Sendable {
    private struct Entry: Sendable {
        let deadline: ContinuousClock.Instant
        let end: @Sendable () -> Void
    }

    private struct State: Sendable {
        var entries: [UInt64: Entry] = [:]
        var lastNumber: UInt64 = 0
        var sleeper: Task<Void, Never>?
        /// Until when it sleeps.
        var wakesAt: ContinuousClock.Instant?
        /// It does not wake up before.
        var restsUntil: ContinuousClock.Instant?
    }

    /// The shortest time between two looks, each of which goes through all sends.
    private static let step = Duration.milliseconds(10)

    private let clock: DeliveryClock
    private let state = Mutex(State())

    init(_ clock: DeliveryClock) { self.clock = clock }

    /// - Parameter end: called once if the deadline comes before ``remove(_:)``.
    /// - Returns: a number for ``remove(_:)``.
    func add(_ deadline: ContinuousClock.Instant, _ end: @escaping @Sendable () -> Void) -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            state.entries[state.lastNumber] = Entry(deadline: deadline, end: end)
            let time = max(deadline, state.restsUntil ?? deadline)
            if state.wakesAt.map({ time < $0 }) ?? true { sleep(until: time, &state) }
            return state.lastNumber
        }
    }

    /// The task sleeps on, also if no send waits: the next one comes soon, and its deadline is later.
    func remove(_ number: UInt64) { _ = state.withLock { $0.entries.removeValue(forKey: number) } }

    private func sleep(until deadline: ContinuousClock.Instant, _ state: inout State) {
        stop(&state)
        state.wakesAt = deadline
        let time = clock.instant().duration(to: deadline)
        state.sleeper = Task {
            try? await self.clock.sleep(time)
            if !Task.isCancelled { self.wakeUp() }
        }
    }

    private func stop(_ state: inout State) {
        state.sleeper?.cancel()
        (state.sleeper, state.wakesAt) = (nil, nil)
    }

    /// Ends the sends whose deadline has passed, and sleeps until the next deadline.
    private func wakeUp() {
        let now = clock.instant()
        let due = state.withLock { state in
            let due = state.entries.filter { $0.value.deadline <= now }
            for number in due.keys { state.entries[number] = nil }
            stop(&state)
            let rest = now + Self.step
            state.restsUntil = rest
            if let next = state.entries.values.lazy.map(\.deadline).min() { sleep(until: max(next, rest), &state) }
            return due
        }
        for entry in due.values { entry.end() }
    }
}
