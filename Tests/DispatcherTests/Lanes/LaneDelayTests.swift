import Domain
import Testing

@testable import Dispatcher

/// Which delay queue: for what a lane holds, and for what failed.
@Suite struct LaneDelayTests {
    /// Pause in seconds, number held in this second, index among 1 s, 5 s, 30 s, 2 min, 10 min.
    static let holds: [(Double, Int, Int)] = [
        (0, 1, 0), (1, 100, 0), (1.5, 1, 1), (5, 1, 1), (6, 1, 2), (30, 1, 2),
        // The crowd comes back later, never later than half a minute.
        (1, 101, 1), (1, 500, 1), (1, 501, 2), (5, 501, 2), (30, 5000, 2),
        // Longer only where the hub asks for it: the queue that covers it nearly, or the longest within it.
        (31, 1, 2), (60, 1, 2), (100, 1, 3), (120, 5000, 3), (300, 1, 3), (590, 1, 4), (3600, 1, 4),
    ]

    @Test(arguments: holds)
    func `Holds fit the pause and the crowd`(_ pause: Double, _ crowd: Int, _ index: Int) {
        let hold = LaneHold(reason: "", pause: .milliseconds(Int64(pause * 1000)), crowd: crowd)
        #expect(RetryDelays.standard.index(holding: hold) == index)
    }

    @Test func `One delay is the delay for all`() {
        let delays = RetryDelays([.seconds(3)])
        for (pause, crowd, _) in Self.holds {
            let hold = LaneHold(reason: "", pause: .milliseconds(Int64(pause * 1000)), crowd: crowd)
            #expect(delays.index(holding: hold) == 0)
        }
    }

    @Test func `A short delay is not repeated for a long pause`() {
        let hold = LaneHold(reason: "", pause: .seconds(50), crowd: 1)
        #expect(RetryDelays([.seconds(1), .seconds(60)]).index(holding: hold) == 1)
    }

    @Test(arguments: [(1, 0...0), (2, 0...1), (5, 0...4), (6, 4...4), (100, 4...4)])
    func `Back-off draws from all up to the planned one`(_ attempt: Int, _ range: ClosedRange<Int>) {
        var generator = SystemRandomNumberGenerator()
        var drawn: Set<Int> = []
        for _ in 0..<500 {
            drawn.insert(
                RetryDelays.standard.jitteredIndex(beforeRetry: attempt, atLeast: nil, using: &generator))
        }
        // Each of five is missed by 500 draws once in 10⁴⁸ times.
        #expect(drawn == Set(range))
    }

    @Test func `Back-off honours Retry-After`() {
        var generator = SystemRandomNumberGenerator()
        for attempt in 1...10 {
            let index = RetryDelays.standard.jitteredIndex(
                beforeRetry: attempt, atLeast: .seconds(20), using: &generator)
            #expect(RetryDelays.standard.delays[index] >= .seconds(20))
        }
    }
}
