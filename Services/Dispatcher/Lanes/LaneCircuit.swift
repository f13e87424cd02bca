import Domain

/// Whether a lane sends (a circuit breaker): closed while it sends, open while it leaves the hub alone, half open while
/// one request tests the hub. A value without I/O and without a clock.
///
/// A pause uses up no attempt, because nothing is tried. While the circuit is open, one request per pause goes through
/// (the probe).
struct LaneCircuit: Sendable {
    typealias Instant = LaneClock.Instant

    struct Pause: Sendable, Equatable {
        var cause: HubProblem
        /// The time from which a probe may be sent.
        var until: Instant
        /// The wait after a probe that fails without a `Retry-After`.
        var interval: Duration
    }

    enum State: Sendable, Equatable {
        case closed
        case open(Pause)
        case halfOpen(Pause)
    }

    enum Admission: Sendable, Equatable {
        case traffic
        case probe
        case held
    }

    /// This many failures in a row open the circuit. If one response in fourteen is bad at random (a hub under test),
    /// ten in a row occur once in 10¹¹ sends; a hub that is down is detected within ten.
    static let maxFailures = 10
    static let firstInterval = Duration.seconds(1)
    /// Limits the time until the lane detects the end of a problem.
    static let maxInterval = Duration.seconds(15)
    /// A corrected connection string is in use within ten seconds, and wrong credentials or a wrong hub name are not
    /// sent to the hub more often.
    static let credentialsInterval = Duration.seconds(5)
    /// `Retry-After: 0` must not become a busy loop.
    static let minPause = Duration.milliseconds(250)

    private(set) var state = State.closed

    var isClosed: Bool { if case .closed = state { true } else { false } }

    private var failures = 0

    /// Decides about one more request. The outcome of a probe must be observed with `isProbe`.
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

    mutating func observe(_ meaning: SendOutcome.Meaning, isProbe: Bool, now: Instant) {
        switch state {
        case .closed: observeClosed(meaning, now: now)
        case .halfOpen(let pause) where isProbe: observeProbe(meaning, pause, now: now)
        case .halfOpen: break
        case .open(var pause):
            // The request was sent before the circuit opened: only a longer wait is new information.
            guard meaning.problem == .throttled, let retryAfter = meaning.retryAfter else { return }
            pause.until = max(pause.until, now + retryAfter)
            state = .open(pause)
        }
    }

    private mutating func observeClosed(_ meaning: SendOutcome.Meaning, now: Instant) {
        guard let cause = meaning.problem else {
            failures = 0
            return
        }
        failures += 1
        if cause.confirmed != nil {
            // The token may just be old, or the 404 may be a gateway's mistake: the next request tests it at once.
            open(Pause(cause: cause, until: now, interval: Self.credentialsInterval))
        } else if meaning.retryAfter != nil || failures >= Self.maxFailures {
            let wait = meaning.retryAfter ?? Self.firstInterval
            let until = now + max(wait, Self.minPause)
            open(Pause(cause: cause, until: until, interval: Self.firstInterval))
        }
    }

    private mutating func observeProbe(_ meaning: SendOutcome.Meaning, _ pause: Pause, now: Instant) {
        switch meaning.problem {
        case nil:
            failures = 0
            state = .closed
        case let cause? where cause.confirmed != nil:
            // The second time there is a pause, even if a 401 follows a 404.
            let isKnown = pause.cause.isOfSettings
            let wait = isKnown ? Self.credentialsInterval : .zero
            let confirmed = isKnown ? cause.confirmed ?? cause : cause
            open(Pause(cause: confirmed, until: now + wait, interval: Self.credentialsInterval))
        case let cause?:
            let longer = min(max(pause.interval, Self.firstInterval) * 2, Self.maxInterval)
            let wait = max(meaning.retryAfter ?? longer, Self.minPause)
            open(Pause(cause: cause, until: now + wait, interval: longer))
        }
    }

    private mutating func open(_ pause: Pause) { state = .open(pause) }
}

extension LaneCircuit.State {
    var pause: LaneCircuit.Pause? {
        switch self {
        case .closed: nil
        case .open(let pause), .halfOpen(let pause): pause
        }
    }

    /// How long a send that is held now should stay away: until the next probe or, while a probe is in flight, for the
    /// pause that follows if it fails. A hub that does not answer keeps its probe for longer than that.
    func remaining(now: LaneClock.Instant) -> Duration {
        switch self {
        case .closed: .zero
        case .open(let pause): max(.zero, now.duration(to: pause.until))
        case .halfOpen(let pause): pause.interval
        }
    }
}

extension HubProblem {
    /// The problem that the second such outcome in a row confirms; `nil` if the outcome only counts as one failure.
    var confirmed: Self? {
        switch self {
        case .refused: .credentials
        case .notFound: .noHub
        case .throttled, .failing, .silent, .unreachable, .credentials, .noHub: nil
        }
    }

    /// Whether an operator certainly has to correct the settings.
    var isFault: Bool { self == .credentials || self == .noHub }

    /// Whether an operator may have to correct the settings.
    var isOfSettings: Bool { isFault || confirmed != nil }

    /// For the record of deliveries and for logs.
    var reason: String {
        switch self {
        case .throttled: "the hub throttles"
        case .failing: "the hub fails"
        case .silent: "the hub does not answer"
        case .unreachable: "the hub cannot be reached"
        case .refused: "the hub refused a token; a new one is tried"
        case .credentials: "the hub refuses the credentials"
        case .notFound: "the hub answered 404; the next request tries again"
        case .noHub: "the endpoint has no hub of that name"
        }
    }
}
