import Domain
import Foundations
import StackKit
import Synchronization
import TestSupport

/// A clock that sleeps take forward at once, so often; what sleeps after that waits until it is cancelled.
final class StepClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleeps: [Duration] = []
        var isExhausted = false
    }

    private let limit: Int
    private let state = Mutex(State())

    init(sleeps limit: Int) { self.limit = limit }

    var now: Instant { state.withLock { $0.now } }
    var minimumResolution: Duration { .zero }
    /// How long each sleep was to be.
    var sleeps: [Duration] { state.withLock { $0.sleeps } }
    /// Whether somebody waits for good.
    var isExhausted: Bool { state.withLock { $0.isExhausted } }

    func advance(by duration: Duration) { state.withLock { $0.now = $0.now.advanced(by: duration) } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let sleeps = state.withLock { state in
            guard state.sleeps.count < limit else {
                state.isExhausted = true
                return false
            }
            state.sleeps.append(state.now.duration(to: deadline))
            state.now = deadline
            return true
        }
        guard !sleeps else { return }
        let (never, end) = AsyncStream<Void>.makeStream()
        for await _ in never {}
        end.finish()
        throw CancellationError()
    }
}

/// A store that takes as long for each batch as a test says, on the test's clock.
final class ScriptedRetention: ForwardingStore {
    let base = memoryStore()
    enum Step: Sendable {
        case batch(PurgeReport, Duration)
        case failure
    }

    private struct State {
        var steps: [Step]
        var limits: [Int] = []
    }

    private let clock: StepClock
    private let state: Mutex<State>

    init(_ clock: StepClock, _ steps: [Step]) {
        self.clock = clock
        state = Mutex(State(steps: steps))
    }

    /// The limits of the batches that were asked for.
    var limits: [Int] { state.withLock { $0.limits } }

    func purge(limit: Int, now: Timestamp) async throws -> PurgeReport {
        let step = state.withLock { state in
            state.limits.append(limit)
            return state.steps.isEmpty ? .batch(PurgeReport(), .zero) : state.steps.removeFirst()
        }
        guard case .batch(let report, let duration) = step else {
            throw StorageError(.unavailable, "away for the test")
        }
        clock.advance(by: duration)
        return report
    }
}
