import SecurePushCore

/// Whether a lane lets traffic through: closed, open while the hub is left in peace, half open while one request finds
/// out. A value without I/O and without a clock of its own.
///
/// Pausing uses up no attempt, for what is not sent is not tried. While the circuit is open one request a pause goes
/// through (the probe), whatever waits.
struct LaneCircuit: Sendable {
    typealias Instant = LaneClock.Instant

    enum Cause: Sendable, Equatable {
        case throttled, failing, silent
        /// No request reaches the hub: there is no connection.
        case unreachable
        /// The hub refused a token: an old one until the one made after it was refused as well.
        case refused
        /// The credentials are wrong.
        case credentials
        /// A 404 to a send, until the one after it was answered so as well.
        case notFound
        /// There is no hub of that name at the endpoint.
        case noHub
    }

    struct Pause: Sendable, Equatable {
        var cause: Cause
        /// From then on a probe may go.
        var until: Instant
        /// The wait after a probe that fails without a `Retry-After`.
        var interval: Duration
    }

    enum State: Sendable, Equatable {
        case closed
        case open(Pause)
        /// A probe is under way.
        case halfOpen(Pause)
    }

    enum Admission: Sendable, Equatable {
        case traffic
        case probe
        case held
    }

    /// So many answers in a row that speak against the hub open the circuit. With one answer in fourteen bad at random
    /// (a hub under test), ten in a row happen once in 10¹¹ sends; a hub that is down is found out within ten.
    static let maxFailures = 10
    static let firstInterval = Duration.seconds(1)
    /// Bounds how long after the end of a storm the lane learns of it.
    static let maxInterval = Duration.seconds(15)
    /// A corrected connection string is taken within ten seconds, and a wrong one, or a wrong name of the hub, not
    /// presented to the hub more often.
    static let credentialsInterval = Duration.seconds(5)
    /// `Retry-After: 0` must not become a busy loop.
    static let minPause = Duration.milliseconds(250)

    private(set) var state = State.closed
    private var failures = 0

    /// Whether one more request may go now. A probe's answer must be noted as such.
    mutating func admit(now: Instant) -> Admission {
        switch state {
        case .closed: return .traffic
        case .halfOpen: return .held
        case .open(let pause):
            guard now >= pause.until else { return .held }
            state = .halfOpen(pause)
            return .probe
        }
    }

    /// Takes in the hub's answer to a request.
    mutating func note(_ outcome: SendOutcome, isProbe: Bool, now: Instant) {
        switch state {
        case .closed: noteClosed(outcome, now: now)
        case .halfOpen(let pause) where isProbe: noteProbe(outcome, pause, now: now)
        case .halfOpen: break
        case .open(var pause):
            // Answers to what was sent before the circuit opened: only a longer wait is news.
            guard case .throttled(let retryAfter?) = outcome else { return }
            pause.until = max(pause.until, now + retryAfter)
            state = .open(pause)
        }
    }

    private mutating func noteClosed(_ outcome: SendOutcome, now: Instant) {
        guard let cause = Cause(outcome) else {
            failures = 0
            return
        }
        failures += 1
        if cause.confirmed != nil {
            // The token may just be old, or one 404 a mistake of a gateway: the next request finds out at once.
            open(Pause(cause: cause, until: now, interval: Self.credentialsInterval))
        } else if outcome.retryAfter != nil || failures >= Self.maxFailures {
            let wait = outcome.retryAfter ?? Self.firstInterval
            let until = now + max(wait, Self.minPause)
            open(Pause(cause: cause, until: until, interval: Self.firstInterval))
        }
    }

    private mutating func noteProbe(_ outcome: SendOutcome, _ pause: Pause, now: Instant) {
        switch Cause(outcome) {
        case nil:
            failures = 0
            state = .closed
        case let cause? where cause.confirmed != nil:
            // Not at once a second time, even where a 401 follows on a 404.
            let isKnown = pause.cause.isOfSettings
            let wait = isKnown ? Self.credentialsInterval : .zero
            let confirmed = isKnown ? cause.confirmed ?? cause : cause
            open(Pause(cause: confirmed, until: now + wait, interval: Self.credentialsInterval))
        case let cause?:
            let longer = min(max(pause.interval, Self.firstInterval) * 2, Self.maxInterval)
            let wait = max(outcome.retryAfter ?? longer, Self.minPause)
            open(Pause(cause: cause, until: now + wait, interval: longer))
        }
    }

    private mutating func open(_ pause: Pause) { state = .open(pause) }
}

extension LaneCircuit.State {
    /// What is paused for; `nil` when closed.
    var pause: LaneCircuit.Pause? {
        switch self {
        case .closed: nil
        case .open(let pause), .halfOpen(let pause): pause
        }
    }

    /// How long what is held now should stay away: until the next probe, or, while one is under way, as long as the
    /// lane rests should it fail. A hub that does not answer keeps its probe for longer than that.
    func remaining(now: LaneClock.Instant) -> Duration {
        switch self {
        case .closed: .zero
        case .open(let pause): max(.zero, now.duration(to: pause.until))
        case .halfOpen(let pause): pause.interval
        }
    }
}

extension LaneCircuit.Cause {
    /// What an answer says against the hub or our credentials; `nil` where the hub did its work.
    init?(_ outcome: SendOutcome) {
        switch outcome {
        case .sent, .rejected: return nil
        case .throttled: self = .throttled
        case .unavailable: self = .failing
        case .notSent: self = .unreachable
        case .unanswered: self = .silent
        case .unauthorized: self = .refused
        case .hubNotFound: self = .notFound
        }
    }

    /// What the second such answer in a row means; `nil` for what only counts as one failure.
    var confirmed: Self? {
        switch self {
        case .refused: .credentials
        case .notFound: .noHub
        case .throttled, .failing, .silent, .unreachable, .credentials, .noHub: nil
        }
    }

    /// Whether an operator has to correct the settings.
    var isOfSettings: Bool {
        switch self {
        case .refused, .credentials, .notFound, .noHub: true
        case .throttled, .failing, .silent, .unreachable: false
        }
    }

    /// For the record of deliveries and for logs.
    var reason: String {
        switch self {
        case .throttled: "the hub throttles"
        case .failing: "the hub fails"
        case .silent: "the hub does not answer"
        case .unreachable: "the hub cannot be reached"
        case .refused: "the hub refused a token, a new one is tried"
        case .credentials: "the hub refuses the credentials"
        case .notFound: "the hub answered 404, it is tried again"
        case .noHub: "there is no hub of that name at the endpoint"
        }
    }
}
