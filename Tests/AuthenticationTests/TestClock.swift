import Foundations
import Synchronization

/// Time that passes when the test says so.
final class TestClock: Sendable {
    private let elapsed = Mutex(Duration.zero)
    private let start = ContinuousClock.now
    static let epoch = Timestamp(milliseconds: 1_800_000_000_000)

    var now: Timestamp { TestClock.epoch + elapsed.withLock { $0 } }

    var instant: ContinuousClock.Instant { start + elapsed.withLock { $0 } }

    func advance(by duration: Duration) { elapsed.withLock { $0 += duration } }
}

extension Timestamp {
    /// Some seconds after the test clock's beginning, as a token says it.
    static func claim(_ offset: Int64) -> Int64 { TestClock.epoch.seconds + offset }
}
