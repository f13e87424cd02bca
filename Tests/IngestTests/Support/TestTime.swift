import Foundations
import Synchronization

/// A clock that a test sets.
final class TestTime: Sendable {
    private let time: Mutex<Timestamp>

    init(_ time: Timestamp = Timestamp(milliseconds: 1_800_000_000_000)) { self.time = Mutex(time) }

    var now: Timestamp { time.withLock { $0 } }

    func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}
