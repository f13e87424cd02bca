import SecurePushCore
import Synchronization

/// Deliveries that stay with the dispatcher for a while, so that they do not come back at once: what the broker gets
/// back, it delivers in the next moment. The prefetch limits them.
final class HeldDeliveries: Sendable {
    /// Deliveries whose dead letter the broker did not take.
    struct Letter: Sendable {
        var deliveries: [DispatchDelivery]
        var letter: DeadLetterDraft
    }

    private struct State {
        var early: [(delivery: DispatchDelivery, due: Timestamp)] = []
        var letters: [Letter] = []
        /// When the letters are published again, and how long the wait is.
        var next: (time: ContinuousClock.Instant, wait: Duration)?
    }

    private static let waits = Duration.seconds(1) ... .seconds(30)

    private let state = Mutex(State())

    /// Holds a delivery until a time. It is put back then.
    func hold(_ delivery: DispatchDelivery, until due: Timestamp) {
        state.withLock { $0.early.append((delivery, due)) }
    }

    /// Holds deliveries until their dead letters are confirmed.
    func hold(_ letters: [Letter]) {
        guard !letters.isEmpty else { return }
        state.withLock { state in
            state.letters += letters
            if state.next == nil { state.next = (.now + Self.waits.lowerBound, Self.waits.lowerBound) }
        }
    }

    /// Takes the deliveries to put back now.
    func takeDue(at now: Timestamp) -> [DispatchDelivery] {
        state.withLock { state in
            if state.early.isEmpty { return [] }
            let (due, waiting) = state.early.partitioned { $0.due <= now }
            state.early = waiting
            return due.map(\.delivery)
        }
    }

    /// Takes the letters if it is time to publish them. The next wait is twice as long, unless
    /// ``lettersWereConfirmed()`` is called.
    func takeLetters(at now: ContinuousClock.Instant) -> [Letter] {
        state.withLock { state in
            guard let next = state.next, next.time <= now, !state.letters.isEmpty else { return [] }
            let wait = min(next.wait * 2, Self.waits.upperBound)
            state.next = (now + wait, wait)
            defer { state.letters = [] }
            return state.letters
        }
    }

    /// The broker takes dead letters again.
    func lettersWereConfirmed() {
        state.withLock { state in
            state.next = state.letters.isEmpty ? nil : (.now, Self.waits.lowerBound)
        }
    }

    /// Takes everything, to put it back when the dispatcher stops.
    func removeAll() -> [DispatchDelivery] {
        state.withLock { state in
            defer { state = State() }
            return state.early.map(\.delivery) + state.letters.flatMap(\.deliveries)
        }
    }
}
