import DequeModule
import Domain

/// The state and all decisions of a lane: the circuit, the limit, and the queue. A value without I/O.
struct LaneState: Sendable {
    typealias Instant = LaneClock.Instant

    enum Decision: Sendable {
        case send(isProbe: Bool)
        /// The lane is healthy and full, so the send waits in its queue.
        case queued
        case held(LaneHold)
    }

    /// The longest time that the first send in the queue waits during a mere burst.
    static let maxWait = Duration.milliseconds(250)

    private struct Waiting: Sendable {
        var send: LaneSend
        var since: Instant
    }

    private(set) var circuit = LaneCircuit()
    private(set) var limit: LaneLimit
    private var queue: Deque<Waiting> = []
    private(set) var inFlight = 0
    /// Whether the lane's backlog would starve the others. While it sheds, it holds sends instead of queueing them.
    private(set) var isShedding = false
    /// A fading count of recent answers, see ``Lanes/tick()``.
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

    /// The number of sends in flight and in the queue.
    var occupancy: Int { inFlight + queue.count }

    mutating func submit(_ send: LaneSend, now: Instant) -> Decision {
        // The gateway stops too, so another dispatcher has to send this one.
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
        limit.observeFull()
        guard !isShedding, queue.count < maxWaiting else { return .held(hold(now: now)) }
        queue.append(Waiting(send: send, since: now))
        return .queued
    }

    /// A send has ended.
    ///
    /// - Returns: a hold for the send itself, if it is to be repeated without using up an attempt; and the sends that
    ///   left the queue and are held now, if the circuit has opened.
    mutating func finish(
        _ outcome: SendOutcome, isProbe: Bool, latency: Int64, now: Instant
    ) -> (hold: LaneHold?, flushed: [(LaneSend, LaneHold)]) {
        inFlight -= 1
        answers += 1
        let meaning = outcome.meaning
        limit.observe(meaning, latency: latency, now: now)
        circuit.observe(meaning, isProbe: isProbe, now: now)
        let flushed = circuit.isClosed || queue.isEmpty ? [] : flush(now: now)
        return (meaning.isHeld ? hold(now: now) : nil, flushed)
    }

    /// The next send of the queue, once the limit allows it.
    mutating func next() -> LaneSend? {
        guard inFlight < limit.limit, circuit.isClosed, let first = queue.popFirst() else { return nil }
        inFlight += 1
        return first.send
    }

    /// Ages ``flow``; called ten times a second.
    mutating func tick() {
        flow = flow * 0.8 + Double(answers)
        answers = 0
        if isShedding && inFlight < limit.limit { isShedding = false }
    }

    /// Begins to hold sends instead of queueing them.
    ///
    /// - Returns: the sends that left the queue and are held now.
    mutating func shed(now: Instant) -> [(LaneSend, LaneHold)] {
        isShedding = true
        return flush(now: now)
    }

    /// The dispatcher stops: sends in flight end, and the queue is closed.
    ///
    /// - Returns: the sends that left the queue and are held now.
    mutating func close(now: Instant) -> [(LaneSend, LaneHold)] {
        isClosing = true
        return flush(now: now)
    }

    /// Whether the first send in the queue has waited longer than in a mere burst.
    func keepsWaiting(now: Instant) -> Bool {
        guard let oldest = queue.first else { return false }
        return oldest.since.duration(to: now) >= Self.maxWait
    }

    private mutating func flush(now: Instant) -> [(LaneSend, LaneHold)] {
        let waiting = queue
        queue = []
        return waiting.map { ($0.send, hold(now: now)) }
    }

    private mutating func hold(now: Instant) -> LaneHold {
        if heldSecond.duration(to: now) >= .seconds(1) {
            heldSecond = now
            heldCount = 0
        }
        heldCount += 1
        let pause = circuit.state.pause
        let own = isClosing ? "the dispatcher is stopping" : isShedding ? "the hub is slow" : "the lane is full"
        return LaneHold(
            reason: isClosing ? own : pause?.cause.reason ?? own, pause: circuit.state.remaining(now: now),
            crowd: heldCount)
    }
}

/// The reason why a lane does not send, and for how long.
struct LaneHold: Sendable, Equatable {
    /// The lane's problem. The delivery's record contains it.
    var reason: String
    /// The time until the lane is checked again; zero if the lane only sheds.
    var pause: Duration
    /// The number of sends that the lane has held in this second, including this one. The retry delay grows with it.
    var crowd: Int
}

/// A lane's answer to one send.
enum LaneAnswer: Sendable, Equatable {
    /// The hub's response. It has a hold if it says nothing about the notification and the send is to be repeated.
    case answered(SendOutcome, hold: LaneHold?)
    /// The send was not tried.
    case held(LaneHold)
    /// The send was skipped, because the hub has accepted another silent push, after which the device finds this
    /// notification.
    case coalesced(into: NotificationID)
    /// The send was not tried, because it waits for the recipient's next silent push.
    case waits(SilentWait)

    /// The answer in logs.
    var label: String {
        switch self {
        case .answered(let outcome, _): outcome.meaning.label
        case .held: "held"
        case .coalesced: "coalesced"
        case .waits: "waits"
        }
    }
}

/// One send on its way through a lane. It is a class, because it passes through a queue, a lock and a callback: one
/// reference is cheaper to move than ten.
final class LaneSend: Sendable {
    let notification: HubNotification
    let attempt: DispatchAttempt
    /// The index of the platform in the attempt.
    let index: Int
    /// The notifications that share this silent push.
    let followers: [SilentFollower]

    init(notification: HubNotification, attempt: DispatchAttempt, index: Int, followers: [SilentFollower] = []) {
        self.notification = notification
        self.attempt = attempt
        self.index = index
        self.followers = followers
    }
}

extension LaneAnswer {
    /// How long the hub asked to wait.
    var retryAfter: Duration? {
        if case .answered(let outcome, _) = self { outcome.meaning.retryAfter } else { nil }
    }

    /// The hold after which the send is tried again without using up an attempt.
    var hold: LaneHold? {
        switch self {
        case .answered(_, let hold): hold
        case .held(let hold): hold
        case .coalesced, .waits: nil
        }
    }

    /// The cause of the dead letter, if the delivery is dead after this answer.
    var cause: DeadLetterCause {
        if case .answered(.rejected(_, let status), _) = self { .refused(status: status) } else { .attempts }
    }
}
