import SecurePushCore

/// How many requests of a lane may be under way: grows by steps while the lane is full and well, shrinks by a factor
/// when the hub throttles, leaves requests unanswered or takes far longer than it used to (AIMD, as TCP does). A value
/// without I/O.
///
/// Answers are looked at in rounds of a tenth of a second, and the limit shrinks once a round at most: a hundred 429s
/// to requests that left together are one piece of news.
struct LaneLimit: Sendable {
    typealias Instant = LaneClock.Instant

    /// The shortest round, and the fewest answers in one shorter than a second.
    static let round = Duration.milliseconds(100)
    static let longRound = Duration.seconds(1)
    static let minAnswers = 8
    /// Slower than this many times the usual is "far above"; below the floor nothing is.
    static let slowness: Int64 = 8
    static let slowFloor = Int64(250_000_000)

    let ceiling: Int
    private(set) var limit: Int

    private var start: Instant
    private var answers = 0
    private var unanswered = 0
    private var totalLatency: Int64 = 0
    private var wasFull = false
    private var hasShrunk = false
    /// The usual time of an answer in nanoseconds: a moving average over the rounds; 0 before the first.
    private(set) var baseline: Int64 = 0

    /// - Parameter ceiling: at least 1. The lane begins there: a hub is taken for well until it says otherwise.
    init(ceiling: Int, now: Instant) {
        self.ceiling = max(1, ceiling)
        limit = self.ceiling
        start = now
    }

    /// The lane had as many under way as it may.
    mutating func noteFull() { wasFull = true }

    /// Takes in how a request ended, and after how many nanoseconds.
    mutating func note(_ outcome: SendOutcome, latency: Int64, now: Instant) {
        // The hub has not seen it, so it says nothing about how much the hub takes.
        if case .notSent = outcome { return }
        answers += 1
        switch outcome {
        case .unanswered: unanswered += 1
        case .throttled:
            totalLatency += latency
            shrink(by: 0.5)
        case .sent, .rejected, .unavailable, .unauthorized, .hubNotFound, .notSent: totalLatency += latency
        }
        let time = start.duration(to: now)
        if time >= Self.longRound || (time >= Self.round && answers >= Self.minAnswers) { endRound(now: now) }
    }

    private mutating func endRound(now: Instant) {
        let answered = answers - unanswered
        let mean = answered > 0 ? totalLatency / Int64(answered) : baseline
        let isSlow = baseline > 0 && mean > max(baseline * Self.slowness, Self.slowFloor)
        if unanswered * 4 > answers {
            shrink(by: 0.5)
        } else if isSlow {
            shrink(by: 0.8)
        } else if wasFull && !hasShrunk {
            limit = min(ceiling, limit + max(1, ceiling / 32))
        }
        // What is slow for long becomes the usual, ten times more slowly than what is well.
        if baseline == 0 { baseline = mean } else { baseline += (mean - baseline) / (isSlow ? 160 : 16) }
        start = now
        (answers, unanswered, totalLatency, wasFull, hasShrunk) = (0, 0, 0, false, false)
    }

    private mutating func shrink(by factor: Double) {
        guard !hasShrunk else { return }
        hasShrunk = true
        limit = max(1, Int(Double(limit) * factor))
    }
}
