import PushServices

/// The circuit breaker of a push service: closed while pushes go out, open while none do, half open while one push
/// probes. A value without I/O and without a clock.
struct PushCircuit: Sendable {
    typealias Instant = ContinuousClock.Instant

    enum Cause: Sendable, Equatable {
        /// The push service refuses the credentials.
        case credentials
        case throttled
        /// The push service throttles one device. That opens no circuit.
        case device
        /// No push reaches the push service, or it does not answer, or it fails (5xx).
        case unreachable
    }

    struct Pause: Sendable, Equatable {
        var cause: Cause
        /// The time from which a probe may be sent.
        var until: Instant
        /// The wait after a failed probe whose answer names no time.
        var interval: Duration
    }

    enum State: Sendable, Equatable {
        case closed
        case open(Pause)
        case halfOpen(Pause)
    }

    enum Admission: Sendable, Equatable {
        case push
        case probe
        case held(Pause)
    }

    /// This many pushes in a row that are throttled or fail open the circuit.
    static let maxFailures = 10
    /// Refused credentials are probed this often.
    static let credentialsInterval = Duration.seconds(30)
    static let firstInterval = Duration.seconds(1)
    static let maxInterval = Duration.seconds(15)
    /// `Retry-After: 0` must not become a busy loop.
    static let minPause = Duration.milliseconds(250)
    /// Where devices are bound to keys, refused devices say nothing about the credentials this long after an acceptance,
    static let proofOfCredentials = Duration.seconds(30)
    /// and, once a push was accepted, only if so many of them were refused and none was accepted.
    static let minRefusedDevices = 20

    private(set) var state = State.closed
    /// Whether a device may be bound to another key (Web Push). The push service refuses such a device with the same
    /// answer as wrong credentials, and this must not stop the pushes to other devices.
    let areDevicesBound: Bool
    private var failures = 0
    private var lastAccepted: Instant?
    /// Hashes of the devices whose pushes were refused for the credentials, since one was accepted.
    private var refused: Set<Int> = []

    init(areDevicesBound: Bool = false) {
        self.areDevicesBound = areDevicesBound
    }

    var pause: Pause? {
        switch state {
        case .closed: nil
        case .open(let pause), .halfOpen(let pause): pause
        }
    }

    /// Decides about one more push. The answer to a probe must be observed with `isProbe`.
    ///
    /// - Parameter device: a hash of the device's address.
    mutating func admit(_ device: Int, now: Instant) -> Admission {
        switch state {
        case .closed: return .push
        case .halfOpen(let pause): return .held(pause)
        case .open(let pause):
            guard now >= pause.until else { return .held(pause) }
            // A device that was refused proves little, so it is the probe only if no other device comes for a while.
            if refused.contains(device), now < pause.until + pause.interval { return .held(pause) }
            state = .halfOpen(pause)
            return .probe
        }
    }

    /// Notes the answer to a push.
    ///
    /// - Parameter device: a hash of the device's address.
    mutating func observe(_ answer: PushAnswer, of device: Int, isProbe: Bool, now: Instant) {
        if answer == .accepted { (lastAccepted, refused) = (now, []) }
        if isOfDevice(answer), refused.count < Self.minRefusedDevices { refused.insert(device) }
        switch state {
        case .closed: observeClosed(answer, now: now)
        case .halfOpen(let pause) where isProbe: observeProbe(answer, pause, now: now)
        case .halfOpen: break
        case .open(var pause):
            // The push was sent before the circuit opened: only a longer wait is new information.
            guard case .throttled(let wait?) = answer else { return }
            pause.until = max(pause.until, now + wait)
            state = .open(pause)
        }
    }

    /// Whether the answer refuses the credentials for a device that may be bound to other ones.
    private func isOfDevice(_ answer: PushAnswer) -> Bool {
        answer == .channelRefused || areDevicesBound && answer == .credentialRefused
    }

    private mutating func observeClosed(_ answer: PushAnswer, now: Instant) {
        guard let cause = answer.cause, cause != .device else {
            failures = 0
            return
        }
        if cause == .credentials {
            if isOfDevice(answer), let lastAccepted,
                refused.count < Self.minRefusedDevices || lastAccepted.duration(to: now) < Self.proofOfCredentials
            {
                return
            }
            return open(cause, for: Self.credentialsInterval, interval: Self.credentialsInterval, now: now)
        }
        failures += 1
        if failures >= Self.maxFailures {
            open(cause, for: answer.wait ?? Self.firstInterval, interval: Self.firstInterval, now: now)
        }
    }

    private mutating func observeProbe(_ answer: PushAnswer, _ pause: Pause, now: Instant) {
        switch answer.cause {
        case nil, .device?:
            (failures, state) = (0, .closed)
        case .credentials?:
            open(.credentials, for: Self.credentialsInterval, interval: Self.credentialsInterval, now: now)
        case let cause? where pause.cause == .credentials:
            // It is not known yet whether the credentials are good.
            let isWorse = cause == .throttled ? answer.wait : nil
            open(.credentials, for: max(isWorse ?? .zero, pause.interval), interval: pause.interval, now: now)
        case let cause?:
            let longer = min(pause.interval * 2, Self.maxInterval)
            open(cause, for: answer.wait ?? longer, interval: longer, now: now)
        }
    }

    private mutating func open(_ cause: Cause, for wait: Duration, interval: Duration, now: Instant) {
        state = .open(Pause(cause: cause, until: now + max(wait, Self.minPause), interval: interval))
    }
}
