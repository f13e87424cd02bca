import SecurePushCore

/// A lane's state and all its decisions: the circuit, the limit, and what waits for a slot. A value without I/O.
struct LaneState: Sendable {
    typealias Instant = LaneClock.Instant

    enum Decision: Sendable {
        case send(isProbe: Bool)
        /// It waits in the lane, which is full and well.
        case queued
        case held(LaneHold)
    }

    /// How long the first in the queue may wait before the lane counts as behind; a burst is through sooner.
    static let maxWait = Duration.milliseconds(250)

    private(set) var circuit = LaneCircuit()
    private(set) var limit: LaneLimit
    private(set) var queue = LaneQueue()
    private(set) var inFlight = 0
    /// Whether the lane holds up the others; then it holds what finds it full instead of letting it wait.
    private(set) var isBehind = false
    /// Answers lately, fading: see ``Lanes/tick()``.
    private(set) var flow = 0.0
    private let maxWaiting: Int
    private var isClosing = false
    private var answers = 0
    private var heldSecond: Instant
    private var heldCount = 0

    init(settings: LaneSettings, now: Instant) {
        limit = LaneLimit(ceiling: settings.share, now: now)
        maxWaiting = settings.maxInFlight
        heldSecond = now
    }

    /// Requests under way and waiting: so many deliveries wait for this lane.
    var occupancy: Int { inFlight + queue.count }

    mutating func submit(_ send: LaneSend, now: Instant) -> Decision {
        // The gateway stops as well: what is claimed this late is left to another dispatcher.
        if isClosing { return .held(hold(now: now)) }
        switch circuit.admit(now: now) {
        case .probe:
            inFlight += 1
            return .send(isProbe: true)
        case .held: return .held(hold(now: now))
        case .traffic: break
        }
        if inFlight < limit.limit && queue.count == 0 {
            inFlight += 1
            return .send(isProbe: false)
        }
        limit.noteFull()
        guard !isBehind, queue.count < maxWaiting else { return .held(hold(now: now)) }
        queue.append(send, now: now)
        return .queued
    }

    /// Takes in the hub's answer.
    ///
    /// - Returns: the hold for the send itself, where it is to be repeated though nothing is known against it; and
    ///   what waited and is held now, because the circuit has opened.
    mutating func note(
        _ outcome: SendOutcome, isProbe: Bool, latency: Int64, now: Instant
    ) -> (hold: LaneHold?, flushed: [(LaneSend, LaneHold)]) {
        inFlight -= 1
        answers += 1
        limit.note(outcome, latency: latency, now: now)
        circuit.note(outcome, isProbe: isProbe, now: now)
        let flushed = circuit.state == .closed || queue.count == 0 ? [] : flush(now: now)
        switch outcome {
        case .throttled, .unauthorized, .hubNotFound, .notSent: return (hold(now: now), flushed)
        case .sent, .rejected, .unavailable, .unanswered: return (nil, flushed)
        }
    }

    /// The next of what waits, once there is a slot for it.
    mutating func next() -> LaneSend? {
        guard inFlight < limit.limit, circuit.state == .closed, let send = queue.popFirst() else { return nil }
        inFlight += 1
        return send
    }

    /// Ages ``flow``; called ten times a second.
    mutating func tick() {
        flow = flow * 0.8 + Double(answers)
        answers = 0
        if isBehind && inFlight < limit.limit { isBehind = false }
    }

    /// The lane holds up the others.
    ///
    /// - Returns: what waited and is held now.
    mutating func fallBehind(now: Instant) -> [(LaneSend, LaneHold)] {
        isBehind = true
        return flush(now: now)
    }

    /// The dispatcher stops: what is under way ends, and nothing waits for a slot any more.
    ///
    /// - Returns: what waited and is held now.
    mutating func close(now: Instant) -> [(LaneSend, LaneHold)] {
        isClosing = true
        return flush(now: now)
    }

    /// Whether the first in the queue has waited too long for a mere burst.
    func keepsWaiting(now: Instant) -> Bool {
        guard let oldest = queue.oldest else { return false }
        return oldest.duration(to: now) >= Self.maxWait
    }

    private mutating func flush(now: Instant) -> [(LaneSend, LaneHold)] {
        queue.takeAll().map { ($0, hold(now: now)) }
    }

    private mutating func hold(now: Instant) -> LaneHold {
        if heldSecond.duration(to: now) >= .seconds(1) {
            heldSecond = now
            heldCount = 0
        }
        heldCount += 1
        let pause = circuit.state.pause
        let own = isClosing ? "the dispatcher stops" : isBehind ? "the hub is slow" : "the lane is full"
        return LaneHold(
            reason: isClosing ? own : pause?.cause.reason ?? own, pause: circuit.state.remaining(now: now),
            crowd: heldCount)
    }
}
