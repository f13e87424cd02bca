import Domain

/// The maximum of a lane's requests in flight. It grows by steps while the lane is full and healthy, and shrinks by a
/// factor if the hub throttles, does not answer, or takes far longer than usual (AIMD, as in TCP). A value without I/O.
///
/// Outcomes are evaluated in rounds of a tenth of a second, and the limit shrinks at most once per round: a hundred 429
/// responses to requests that were sent together are one event.
struct LaneLimit: Sendable {
    typealias Instant = LaneClock.Instant

    /// The shortest round, and the minimum of outcomes in a round that is shorter than a second.
    static let round = Duration.milliseconds(100)
    static let longRound = Duration.seconds(1)
    static let minAnswers = 8
    /// A latency above this multiple of the usual one is slow, unless it is below the floor (in nanoseconds).
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
    /// The usual latency in nanoseconds: a moving average over the rounds; 0 before the first.
    private(set) var baseline: Int64 = 0

    /// - Parameter ceiling: at least 1. The lane begins there: a hub counts as healthy until there is a problem.
    init(ceiling: Int, now: Instant) {
        self.ceiling = max(1, ceiling)
        limit = self.ceiling
        start = now
    }

    mutating func observeFull() { wasFull = true }

    /// Observes the outcome of a request and its latency in nanoseconds.
    mutating func observe(_ meaning: SendOutcome.Meaning, latency: Int64, now: Instant) {
        // The request did not reach the hub, so it says nothing about the hub's capacity.
        if meaning.problem == .unreachable { return }
        answers += 1
        if meaning.problem == .silent { unanswered += 1 } else { totalLatency += latency }
        if meaning.problem == .throttled { shrink(by: 0.5) }
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
        // A lasting slowness becomes the usual latency, ten times more slowly than a normal one.
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
