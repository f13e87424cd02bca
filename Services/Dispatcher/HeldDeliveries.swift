import Domain
import Foundations
import Synchronization

/// Deliveries that the dispatcher keeps for a while, because the broker would deliver a requeued message again at once.
/// The prefetch limits the early ones.
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
        /// Since when letters are held without one being confirmed.
        var since: ContinuousClock.Instant?
        /// The newest connection of the consumer.
        var epoch: UInt64 = 0
    }

    private static let waits = Duration.seconds(1) ... .seconds(30)
    /// How long letters are held before an operator is told.
    private static let patience = Duration.seconds(30)

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter prefetch: the maximum of unacknowledged deliveries. Letters take at most a quarter of it, because
    ///   they block other deliveries.
    init(prefetch: Int) { limit = max(1, prefetch / 4) }

    /// Why the dispatcher is not ready, for an operator: the broker has not confirmed dead letters for long. Otherwise
    /// `nil`.
    func problem(at now: ContinuousClock.Instant = .now) -> String? {
        let since = state.withLock { $0.since }
        guard let since, since.duration(to: now) >= Self.patience else { return nil }
        return "the broker takes no dead letters"
    }

    /// Drops deliveries of earlier connections than those of some deliveries: the broker delivers them again.
    func forgetOlder(than deliveries: [DispatchDelivery]) {
        let newest = deliveries.lazy.map(\.epoch).max() ?? 0
        state.withLock { state in
            guard newest > state.epoch else { return }
            state.epoch = newest
            state.early.removeAll { $0.delivery.epoch < newest }
            state.letters.removeAll { $0.deliveries.allSatisfy { $0.epoch < newest } }
            if state.letters.isEmpty { (state.next, state.since) = (nil, nil) }
        }
    }

    /// Holds a delivery until a time. It is put back then.
    func hold(_ delivery: DispatchDelivery, until due: Timestamp) {
        state.withLock { $0.early.append((delivery, due)) }
    }

    /// Holds deliveries until their dead letters are confirmed.
    ///
    /// - Returns: the letters for which there is no room, the oldest ones. The record of each says that it is dead; one
    ///   whose outcome is not stored (``DeadLetterCause/record``) is always held.
    func hold(_ letters: [Letter]) -> [Letter] {
        guard !letters.isEmpty else { return [] }
        return state.withLock { state in
            let epoch = state.epoch
            state.letters += letters.filter { letter in letter.deliveries.contains { $0.epoch >= epoch } }
            if state.letters.isEmpty { return [] }
            state.since = state.since ?? .now
            if state.next == nil { state.next = (.now + Self.waits.lowerBound, Self.waits.lowerBound) }
            var surplus = state.letters.count - limit
            let (given, kept) = state.letters.partitioned { letter in
                guard surplus > 0, letter.letter.cause != .record else { return false }
                surplus -= 1
                return true
            }
            state.letters = kept
            return given
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

    /// The broker confirms dead letters again.
    func lettersWereConfirmed() {
        state.withLock { state in
            state.next = state.letters.isEmpty ? nil : (.now, Self.waits.lowerBound)
            state.since = state.letters.isEmpty ? nil : .now
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
