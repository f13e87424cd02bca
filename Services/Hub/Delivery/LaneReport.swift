import Metrics
import PushServices
import ServiceRuntime
import Storage
import Synchronization

/// The state of a lane, for `/readyz`, the command line and the operator's page.
struct LaneReport: Sendable, Equatable {
    /// The value of `securepush_hub_lane_state`.
    enum State: Int, Sendable {
        case open = 0
        /// Its push service throttles, fails or cannot be reached; one push at a time probes it.
        case held = 1
        /// Its push service refuses the credentials; one push every 30 s probes it.
        case paused = 2
    }

    var lane: HubLaneKey
    /// `simulated`, `connector` or `missing`.
    var kind: String
    var state: State
    var areRemovalsSuspended: Bool
    var inFlight: Int

    /// The reason why an operator has to do something; `nil` if nothing is wrong.
    var problem: String? {
        let name = "\(lane.platform) of hub \(lane.hub)"
        if state == .paused { return "the push service refuses the credentials of \(name)" }
        if areRemovalsSuspended { return "too many devices of \(name) are refused, and none is removed" }
        return nil
    }
}

extension PlatformPushers.Pusher {
    var isSimulated: Bool { kind == "simulated" }
    var isConnector: Bool { kind == "connector" }

    var kind: String {
        switch self {
        case .simulated: "simulated"
        case .connector: "connector"
        case .missing: "missing"
        }
    }

    /// Tells connectors apart; `nil` for others.
    var version: Int? {
        if case .connector(_, let version) = self { version } else { nil }
    }
}

/// The instruments of a lane, kept so that no push has to look one up.
final class PushLaneMetrics: Sendable {
    private let state: Gauge
    private let suspended: Gauge
    private let duration: CoreMetrics.Timer
    private let answers: [DeliveryOutcome: Counter]
    private let isSuspended = Mutex(false)

    init(hub: String, platform: NotificationFormat) {
        state = Metric.hubLaneState.gauge(hub, platform.rawValue)
        suspended = Metric.hubRemovalsSuspended.gauge(hub, platform.rawValue)
        duration = Metric.hubPushDuration.timer(hub, platform.rawValue)
        answers = Dictionary(
            DeliveryOutcome.ofPushServices.map { ($0, Metric.hubPushes.counter(hub, platform.rawValue, $0.rawValue)) },
            uniquingKeysWith: { first, _ in first })
    }

    /// - Returns: whether removals were suspended before.
    @discardableResult
    func show(_ state: LaneReport.State, isSuspended: Bool) -> Bool {
        self.state.record(state.rawValue)
        suspended.record(isSuspended ? 1 : 0)
        return self.isSuspended.withLock { known in
            defer { known = isSuspended }
            return known
        }
    }

    func count(_ answer: PushAnswer, after time: Duration) {
        answers[answer.outcome]?.increment()
        duration.recordNanoseconds(
            Int64(clamping: time.components.seconds) &* 1_000_000_000 &+ time.components.attoseconds / 1_000_000_000)
    }
}

extension HubFeedbackRow {
    /// Counts registrations that were removed. It is rare, so the instrument is looked up.
    func countRemoved(_ count: Int) {
        if count > 0 { Metric.hubDevicesRemoved.counter(hub, platform, error).increment(by: count) }
    }
}
