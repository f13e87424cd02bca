import Histogram
import SecurePushCore

/// The course of a load test: results and latencies per interval since sending began.
///
/// Bounded: when the test outlasts the intervals, each two of them become one of twice the length.
struct LoadTimeline: Sendable, Equatable {
    struct Slot: Sendable, Equatable {
        var accepted = 0
        var failed = 0
        /// Latencies to the acceptance and to the payload on a device, with two significant digits; `nil` without any.
        var accept: LatencyHistogram?
        var read: LatencyHistogram?

        fileprivate mutating func add(_ other: Slot) {
            accepted += other.accepted
            failed += other.failed
            accept = Slot.sum(accept, other.accept)
            read = Slot.sum(read, other.read)
        }

        private static func sum(_ one: LatencyHistogram?, _ other: LatencyHistogram?) -> LatencyHistogram? {
            guard var sum = one else { return other }
            if let other { sum.add(other) }
            return sum
        }
    }

    static let maxSlots = 120

    private(set) var interval = Duration.milliseconds(10)
    private(set) var slots: [Slot] = []

    /// - Parameter elapsed: since sending began; a negative time counts as 0.
    mutating func noteAccepted(at elapsed: Duration, latency: Duration) {
        change(elapsed) { slot in
            slot.accepted += 1
            LoadTimeline.record(latency, &slot.accept)
        }
    }

    mutating func noteFailed(at elapsed: Duration) { change(elapsed) { $0.failed += 1 } }

    mutating func noteRead(at elapsed: Duration, latency: Duration) {
        change(elapsed) { LoadTimeline.record(latency, &$0.read) }
    }

    /// Makes the timeline reach to a time.
    mutating func cover(_ elapsed: Duration) {
        var index = index(at: elapsed)
        while index >= LoadTimeline.maxSlots {
            halve()
            index = self.index(at: elapsed)
        }
        while slots.count <= index { slots.append(Slot()) }
    }

    /// The slot of a time, which need not exist.
    func index(at elapsed: Duration) -> Int {
        // A test ends long before the numbers are too large for an `Int`.
        max(0, Int((elapsed.inSeconds / interval.inSeconds).rounded(.down)))
    }

    private mutating func change(_ elapsed: Duration, _ body: (inout Slot) -> Void) {
        cover(elapsed)
        body(&slots[index(at: elapsed)])
    }

    private mutating func halve() {
        interval = interval * 2
        slots = stride(from: 0, to: slots.count, by: 2).map { index in
            var slot = slots[index]
            if index + 1 < slots.count { slot.add(slots[index + 1]) }
            return slot
        }
    }

    private static func record(_ latency: Duration, _ histogram: inout LatencyHistogram?) {
        // Taken out, so that the change does not copy the counts.
        var changed = histogram.take() ?? LatencyHistogram(digits: .two)
        changed.record(latency)
        histogram = changed
    }
}
