import Domain
import Foundations
import Testing

@testable import Dispatcher

@Suite struct LaneLimitTests {
    static let sent = SendOutcome.sent(hubMessageID: nil)

    /// A limit that has settled at its ceiling, with 10 ms as the usual time of an answer.
    struct Bench {
        var limit: LaneLimit
        var now = LaneClock.Instant.now

        init(ceiling: Int = 160) {
            limit = LaneLimit(ceiling: ceiling, now: now)
            round()
        }

        /// A tenth of a second with so many answers.
        mutating func round(
            _ outcome: SendOutcome = LaneLimitTests.sent, count: Int = 100, others: Int = 0,
            latency: Duration = .milliseconds(10), isFull: Bool = true
        ) {
            if isFull { limit.observeFull() }
            let nanoseconds = latency.milliseconds * 1_000_000
            for _ in 0..<others { limit.observe(LaneLimitTests.sent.meaning, latency: nanoseconds, now: now) }
            for number in 1...count {
                if number == count { now += .milliseconds(100) }
                limit.observe(outcome.meaning, latency: nanoseconds, now: now)
            }
        }
    }

    @Test func `Begins at the ceiling and stays there`() {
        var bench = Bench()
        for _ in 0..<50 { bench.round() }
        #expect(bench.limit.limit == 160)
        #expect(bench.limit.baseline == 10_000_000)
    }

    static let falls: [(SendOutcome, Int, Int, Duration, Int)] = [
        // Outcome, how many, good ones beside them, latency, and the limit after one round from 160.
        (.throttled(retryAfter: nil), 1, 99, .milliseconds(10), 80),
        (.throttled(retryAfter: .seconds(1)), 100, 0, .milliseconds(10), 80),
        (.unanswered(reason: ""), 100, 0, .seconds(10), 80),
        // One lost in fifty is not the lane's trouble, nor are single failures: back-off and circuit see to them.
        (.unanswered(reason: ""), 2, 98, .milliseconds(10), 160),
        (.unavailable(reason: "", retryAfter: nil), 50, 50, .milliseconds(10), 160),
        (.rejected(reason: ""), 100, 0, .milliseconds(10), 160),
        // What the hub has not seen says nothing about how much it takes.
        (.notSent(reason: ""), 100, 0, .seconds(5), 160),
        // Far above the usual time; and above it, but not far.
        (sent, 100, 0, .milliseconds(800), 128),
        (sent, 100, 0, .milliseconds(249), 160),
    ]

    @Test(arguments: falls)
    func `Falls once a round`(_ outcome: SendOutcome, _ count: Int, _ others: Int, _ latency: Duration, _ limit: Int) {
        var bench = Bench()
        bench.round(outcome, count: count, others: others, latency: latency)
        #expect(bench.limit.limit == limit)
    }

    @Test func `Never falls below one`() {
        var bench = Bench()
        for _ in 0..<20 { bench.round(.throttled(retryAfter: nil)) }
        #expect(bench.limit.limit == 1)
    }

    @Test func `Grows by steps while full and well`() {
        var bench = Bench()
        bench.round(.throttled(retryAfter: nil))
        var limits: [Int] = []
        for _ in 0..<3 {
            bench.round()
            limits.append(bench.limit.limit)
        }
        #expect(limits == [85, 90, 95])
        bench.round(isFull: false)
        #expect(bench.limit.limit == 95)
        for _ in 0..<100 { bench.round() }
        #expect(bench.limit.limit == 160)
    }

    @Test func `What is slow for long becomes the usual`() {
        var bench = Bench()
        for _ in 0..<10 { bench.round(latency: .milliseconds(800)) }
        let low = bench.limit.limit
        #expect(low < 40)
        for _ in 0..<200 { bench.round(latency: .milliseconds(800)) }
        #expect(bench.limit.limit > low)
    }

    @Test func `A lane with few answers has longer rounds`() {
        var bench = Bench(ceiling: 1)
        let before = bench.limit.baseline
        for _ in 0..<10 {
            bench.now += .milliseconds(99)
            bench.limit.observe(Self.sent.meaning, latency: 20_000_000, now: bench.now)
        }
        #expect(bench.limit.baseline == before + (20_000_000 - before) / 16)
    }
}
