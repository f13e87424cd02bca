import Domain
import Logging
import Metrics
import ServiceRuntime
import Synchronization

/// One platform's queue to the hub, with its own limit and circuit, so that a problem of one platform does not affect
/// the others.
///
/// A send costs two short locked sections, and the closure that the gateway needs in any case.
///
/// Decision: docs/decisions/0003-one-lane-per-platform-and-hub.md
final class Lane: Sendable {
    let platform: Platform
    private let gateway: any PushGateway
    private let clock: LaneClock
    private let state: Mutex<LaneState>
    private let shown = Mutex(Shown())
    private let metrics: LaneMetrics
    private let logger: Logger
    /// The settings that a log line names if the hub does not exist.
    private let hub: (name: String, endpoint: String, isPooled: Bool)
    /// Called with the answer to each send, exactly once per send.
    private let deliver: @Sendable (LaneSend, LaneAnswer) -> Void

    init(
        platform: Platform, gateway: any PushGateway, settings: LaneSettings, logger: Logger,
        deliver: @escaping @Sendable (LaneSend, LaneAnswer) -> Void
    ) {
        self.platform = platform
        self.gateway = gateway
        self.logger = logger
        self.deliver = deliver
        clock = settings.clock
        hub = (settings.hub, settings.endpoint, settings.isPooled)
        let state = LaneState(settings: settings, now: settings.clock.now())
        metrics = LaneMetrics(platform: platform, hub: settings.hub)
        metrics.show(.open, limit: state.limit.limit)
        self.state = Mutex(state)
    }

    /// Sends, queues or holds. The answer comes at once or from the gateway's thread.
    func submit(_ send: LaneSend) {
        let now = clock.now()
        switch state.withLock({ $0.submit(send, now: now) }) {
        case .send(let isProbe): start(send, isProbe: isProbe, now: now)
        case .queued: break
        case .held(let hold): answerHeld(send, hold)
        }
    }

    private func start(_ send: LaneSend, isProbe: Bool, now: LaneClock.Instant) {
        gateway.send(send.notification, trace: send.attempt.pushTrace(of: platform)) { outcome in
            self.finished(send, outcome, isProbe: isProbe, began: now)
        }
    }

    private func finished(_ send: LaneSend, _ outcome: SendOutcome, isProbe: Bool, began: LaneClock.Instant) {
        let now = clock.now()
        let latency = began.duration(to: now).nanoseconds
        let (after, next, changed) = state.withLock { state in
            let before = state.condition
            let after = state.finish(outcome, isProbe: isProbe, latency: latency, now: now)
            return (after, state.next(), state.condition != before)
        }
        if changed { show() }
        // The next send starts first, then the pipeline gets this answer.
        if var next {
            start(next, isProbe: false, now: now)
            // There can be more than one if the limit has grown.
            while let more = state.withLock({ $0.next() }) {
                next = more
                start(next, isProbe: false, now: now)
            }
        }
        for (send, hold) in after.flushed { answerHeld(send, hold) }
        deliver(send, .answered(outcome, hold: after.hold))
    }

    private func answerHeld(_ send: LaneSend, _ hold: LaneHold) {
        metrics.held.increment()
        deliver(send, .held(hold))
    }
}

extension Lane {
    /// The values by which lanes are compared.
    struct Load {
        var occupancy: Int
        var flow: Double
        var keepsWaiting: Bool
        var circuit: LaneCircuit.State

        var isPaused: Bool { circuit != .closed }

        func mayBeProbed(now: LaneClock.Instant) -> Bool {
            guard case .open(let pause) = circuit else { return false }
            return pause.until <= now
        }
    }

    var load: Load {
        let now = clock.now()
        return state.withLock { state in
            Load(
                occupancy: state.occupancy, flow: state.flow, keepsWaiting: state.keepsWaiting(now: now),
                circuit: state.circuit.state)
        }
    }

    func tick() {
        state.withLock { $0.tick() }
        show()
    }

    /// The lane's backlog would starve the others: holds the queue, and holds sends instead of queueing them.
    func shed() {
        let now = clock.now()
        let flushed = state.withLock { $0.shed(now: now) }
        show()
        for (send, hold) in flushed { answerHeld(send, hold) }
    }

    /// The dispatcher stops: holds the queue, so that a slow hub does not delay the end.
    func close() {
        let now = clock.now()
        for (send, hold) in state.withLock({ $0.close(now: now) }) { answerHeld(send, hold) }
    }

    /// The lane's hub is not used any more: its metrics show no problem.
    func retire() {
        shown.withLock { shown in
            shown.isRetired = true
            metrics.show(.open, limit: 0)
        }
    }

    private struct Shown {
        var condition = LaneCondition.open
        /// The time of the last line about a fault.
        var faultLogged: LaneClock.Instant?
        var isRetired = false
    }

    private static let faultLogInterval = Duration.seconds(60)

    /// Updates the metrics, and logs the lane's condition if it has changed, and once per minute while an operator has
    /// to correct the settings.
    private func show() {
        let now = clock.now()
        // The state is read under the lock of `shown`, so that lines are in the order of changes.
        shown.withLock { shown in
            if shown.isRetired { return }
            let (condition, limit, cause) = state.withLock {
                ($0.condition, $0.limit.limit, $0.circuit.state.pause?.cause)
            }
            metrics.show(condition, limit: limit)
            let isDue = shown.faultLogged.map { $0.duration(to: now) >= Self.faultLogInterval } ?? true
            guard condition != shown.condition || (condition == .fault && isDue) else { return }
            shown.condition = condition
            if condition == .fault { shown.faultLogged = now }
            log(condition, cause)
        }
    }

    private func log(_ condition: LaneCondition, _ cause: HubProblem?) {
        var metadata: Logger.Metadata = ["platform": "\(platform)"]
        if hub.isPooled { metadata["hub"] = "\(hub.name)" }
        if condition == .open { return logger.info("A lane is open again", metadata: metadata) }
        metadata["reason"] = "\(cause?.reason ?? "the hub is slow")"
        guard condition == .fault else { return logger.warning("A lane is paused", metadata: metadata) }
        guard cause == .noHub else {
            let remedy =
                hub.isPooled ? Self.poolRemedy : "correct HUB_CONNECTION_STRING_FILE, or the setting and restart"
            return logger.error("The hub refuses the credentials: \(remedy)", metadata: metadata)
        }
        metadata["HUB_NAME"] = hub.isPooled ? nil : "\(hub.name)"
        metadata["endpoint"] = "\(hub.endpoint)"
        let remedy = hub.isPooled ? Self.poolRemedy : "correct HUB_NAME or the connection string, and restart"
        logger.error("There is no hub of this name at this endpoint: \(remedy)", metadata: metadata)
    }

    private static let poolRemedy = "correct its line of HUB_POOL_FILE"
}

extension Duration {
    /// Whole nanoseconds; durations here are far below the 292 years that fit.
    fileprivate var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

struct LaneMetrics: Sendable {
    private let state: Gauge
    private let limit: Gauge
    let held: Counter

    init(platform: Platform, hub: String) {
        state = Metric.laneState.gauge(platform.rawValue, hub)
        limit = Metric.laneLimit.gauge(platform.rawValue, hub)
        held = Metric.laneHeld.counter(platform.rawValue, hub)
    }

    func show(_ condition: LaneCondition, limit: Int) {
        state.record(condition.rawValue)
        self.limit.record(limit)
    }
}

/// A lane's condition for operators: the value of `securepush_lane_state`.
enum LaneCondition: Int, Sendable {
    case open = 0
    /// Throttled, failing, silent or slow.
    case paused = 1
    /// The hub refuses the credentials, or the endpoint has no hub of that name.
    case fault = 2
}

extension LaneState {
    /// The lane's condition. It is a property, because a function that takes the state would copy all of it.
    var condition: LaneCondition {
        guard let pause = circuit.state.pause else { return isShedding ? .paused : .open }
        return pause.cause.isFault ? .fault : .paused
    }
}
