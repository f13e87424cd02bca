import Foundations
import Logging
import Metrics
import PushServices
import ServiceRuntime
import Storage
import Synchronization

/// The pushes of one platform of one hub. Each lane has its own limit, circuit and guard, so that a failure of one
/// platform or hub does not affect the others.
final class PushLane: Sendable {
    /// The result of a push in a lane.
    enum Answer: Sendable {
        /// With the effect on removals of devices.
        case answered(PushResult, Removals)
        /// It was not tried, because the lane is paused for this time.
        case held(PushCircuit.Cause, Duration)
        /// There are no credentials.
        case missing
        /// The caller gave it up, or stopped, before its turn came.
        case notTried
    }

    /// The effect of an answer on removals of devices.
    struct Removals: Sendable {
        /// Whether a device whose address is wrong may be removed. An answer to former credentials removes no device,
        /// because wrong credentials may be the cause.
        var areAllowed = false
        /// Whether there is a new decision that all processes have to know.
        var hasTurned = false
    }

    private struct State: Sendable {
        var pusher: PlatformPushers.Pusher
        var circuits: LaneCircuits
        var guardian = RemovalGuard()
        var inFlight = 0
        var places = WaitList<Void>()
        var shown: LaneReport.State = .open
    }

    let key: HubLaneKey
    let platform: NotificationFormat
    private let settings: DeliverySettings
    private let clock: DeliveryClock
    private let state: Mutex<State>
    private let metrics: PushLaneMetrics
    private let logger: Logger

    init(
        hubKey: String, platform: NotificationFormat, pusher: PlatformPushers.Pusher, settings: DeliverySettings,
        clock: DeliveryClock, logger: Logger
    ) {
        key = HubLaneKey(hub: hubKey, platform: platform.rawValue)
        self.platform = platform
        self.settings = settings
        self.clock = clock
        self.logger = logger
        metrics = PushLaneMetrics(hub: hubKey, platform: platform)
        state = Mutex(State(pusher: pusher, circuits: LaneCircuits(isShared: platform == .browser)))
        if !pusher.isSimulated { metrics.show(.open, isSuspended: false) }
    }

    var isSimulated: Bool { state.withLock { $0.pusher.isSimulated } }

    /// Uses another pusher from now on, and forgets the lane's state for the former credentials.
    func use(_ pusher: PlatformPushers.Pusher) {
        state.withLock { state in
            guard pusher.version != state.pusher.version || pusher.kind != state.pusher.kind else { return }
            state.pusher = pusher
            state.circuits = LaneCircuits(isShared: platform == .browser)
            state.guardian = RemovalGuard(after: state.guardian)
        }
        show()
    }

    /// Pushes to one device, as soon as the lane has a place for it. A push whose connection broke before its answer is
    /// repeated at once, once.
    ///
    /// - Parameter begin: called when its turn has come; `false` gives the push up.
    func push(_ request: PushRequest, begin: @Sendable () -> Bool = { true }) async -> Answer {
        do { try await takePlace() } catch { return .notTried }
        defer { givePlace() }
        guard begin() else { return .notTried }
        let now = clock.instant()
        let (pusher, admission) = state.withLock { state -> (PlatformPushers.Pusher, PushCircuit.Admission) in
            guard case .connector = state.pusher else { return (state.pusher, .push) }
            return (state.pusher, state.circuits.admit(request.address, now: now))
        }
        guard case .connector(let connector, let version) = pusher else { return .missing }
        if case .held(let pause) = admission {
            // While a probe is in flight, the pause has no end yet.
            let rest = now.duration(to: pause.until)
            return .held(pause.cause, rest > .zero ? rest : pause.interval)
        }
        let deadline = now + settings.pushTimeout
        var result = await connector.push(request, deadline: deadline)
        if result.answer == .unanswered, clock.instant() < now + settings.pushTimeout / 2, !Task.isCancelled {
            metrics.count(result.answer, after: now.duration(to: clock.instant()))
            result = await connector.push(request, deadline: deadline)
        }
        let removals = note(result, of: request.address, isProbe: admission == .probe, version: version, began: now)
        return .answered(result, removals)
    }

    /// Whether the lane has several push services, which are paused one by one.
    var isShared: Bool { platform == .browser }

    /// How long the lane leaves its push service alone; zero while it pushes, or may be probed.
    var pause: Duration {
        let now = clock.instant()
        return state.withLock { state in
            guard state.pusher.isConnector, let pause = state.circuits.pause else { return .zero }
            if state.circuits.isHalfOpen { return pause.interval }
            return max(now.duration(to: pause.until), .zero)
        }
    }

    /// Whether one push may probe the push service now, and no more.
    var isProbing: Bool { state.withLock { $0.pusher.isConnector && $0.circuits.pause != nil } }

    var report: LaneReport { state.withLock { makeReport($0) } }

    private func makeReport(_ state: State) -> LaneReport {
        LaneReport(
            lane: key, kind: state.pusher.kind, state: state.circuits.state,
            areRemovalsSuspended: state.guardian.isSuspended, inFlight: state.inFlight)
    }

    private func takePlace() async throws {
        let take = { [settings] (state: inout State) -> Void? in
            guard state.inFlight < settings.maxInFlight else { return nil }
            state.inFlight += 1
            return ()
        }
        // Mostly there is one, and taking it costs much less than waiting.
        if state.withLock({ take(&$0) }) == nil { try await state.wait(in: \.places, take) }
    }

    /// The longest waiting push, if there is one, gets the place.
    private func givePlace() {
        let next = state.withLock { state in
            let next = state.places.popFirst()
            if next == nil { state.inFlight -= 1 }
            return next
        }
        next?.resume()
    }

    private func note(
        _ result: PushResult, of address: PushAddress, isProbe: Bool, version: Int, began: ContinuousClock.Instant
    ) -> Removals {
        let now = clock.instant()
        metrics.count(result.answer, after: began.duration(to: now))
        let (changed, removals) = state.withLock { state -> (Bool, Removals) in
            // An answer to the former credentials says nothing about the new ones.
            guard state.pusher.version == version else { return (false, Removals()) }
            // A push that was interrupted by a shutdown says nothing about the push service.
            if !Task.isCancelled || isProbe {
                state.circuits.observe(result.answer, of: address, isProbe: isProbe, now: now)
            }
            let hasTurned =
                result.answer.isAboutDevice && state.guardian.note(isWrong: result.answer.isWrongAddress) != nil
            let removals = Removals(areAllowed: !state.guardian.isSuspended, hasTurned: hasTurned)
            return (hasTurned || state.circuits.state != state.shown, removals)
        }
        if changed { show(result) }
        return removals
    }

    /// The number of decisions about removals that this lane has taken, and the newest one if it is not written yet.
    var decisions: (count: Int, unwritten: RemovalGuard.Turn?) {
        state.withLock { ($0.guardian.decisions, $0.guardian.unwritten) }
    }

    /// See ``RemovalGuard/noteWritten(_:)``.
    func noteWritten(_ number: Int) { state.withLock { $0.guardian.noteWritten(number) } }

    /// Applies the decision of any process about removals of devices with wrong addresses.
    ///
    /// - Parameter number: the number of ``decisions`` before that was read.
    func follow(removalsAreSuspended: Bool, after number: Int) {
        let changed = state.withLock { state in
            state.pusher.isConnector && state.guardian.follow(removalsAreSuspended, after: number)
        }
        if changed { show() }
    }

    /// Shows the state in the metrics, and logs a change of it.
    private func show(_ result: PushResult? = nil) {
        // The gauges too, so that the newest state is the one that they show.
        let (report, before, wasSuspended) = state.withLock { state in
            let report = makeReport(state)
            defer { state.shown = report.state }
            return (report, state.shown, metrics.show(report.state, isSuspended: report.areRemovalsSuspended))
        }
        var metadata: Logger.Metadata = ["hub": "\(key.hub)", "platform": "\(platform.rawValue)"]
        if let result {
            metadata["reason"] = "\(result.reason)"
            metadata["status"] = result.status.map { "\($0)" }
        }
        if report.areRemovalsSuspended != wasSuspended {
            if report.areRemovalsSuspended {
                logger.error(
                    """
                    Many devices are refused as those of another app or environment, and none is removed: check the \
                    credentials and the environment
                    """, metadata: metadata)
            } else {
                logger.notice("Devices that are refused are removed again", metadata: metadata)
            }
        }
        guard report.state != before else { return }
        switch report.state {
        case .open: logger.notice("Pushes to a platform go out again", metadata: metadata)
        case .held: logger.warning("A platform is paused: its push service throttles or fails", metadata: metadata)
        case .paused:
            logger.error("A push service refuses the credentials: its platform is paused", metadata: metadata)
        }
    }
}
