import Foundations
import Logging
import PushServices
import Storage
import Synchronization

/// The lanes of all hubs. A lane is made when it is first needed.
final class PushLanes: Sendable {
    private struct State: Sendable {
        var pushers: PlatformPushers
        var lanes: [HubLaneKey: PushLane] = [:]
    }

    private let settings: DeliverySettings
    private let clock: DeliveryClock
    private let logger: Logger
    private let state: Mutex<State>

    /// How long a connector that is replaced may end its pushes.
    private static let drain = Duration.seconds(10)

    init(
        _ pushers: PlatformPushers, settings: DeliverySettings = .init(), clock: DeliveryClock = .system, logger: Logger
    ) {
        self.settings = settings
        self.clock = clock
        self.logger = logger
        state = Mutex(State(pushers: pushers))
    }

    /// - Parameter hubKey: the hub's name in lower case; of a hub that exists.
    func lane(_ hubKey: String, _ platform: NotificationFormat) -> PushLane {
        let key = HubLaneKey(hub: hubKey, platform: platform.rawValue)
        return state.withLock { state in
            if let lane = state.lanes[key] { return lane }
            let lane = PushLane(
                hubKey: hubKey, platform: platform, pusher: state.pushers[hubKey, platform], settings: settings,
                clock: clock, logger: logger)
            state.lanes[key] = lane
            return lane
        }
    }

    /// The lane of stored pushes; `nil` for a platform that this version does not know.
    func lane(_ key: HubLaneKey) -> PushLane? {
        NotificationFormat(rawValue: key.platform).map { lane(key.hub, $0) }
    }

    func isSimulated(_ hubKey: String, _ platform: NotificationFormat) -> Bool {
        state.withLock { $0.pushers[hubKey, platform].isSimulated }
    }

    /// See ``PlatformPushers/isReal(_:_:)``.
    func isReal(_ hubKey: String, _ format: NotificationFormat) -> Bool {
        state.withLock { $0.pushers.isReal(hubKey, format) }
    }

    func pusher(_ hubKey: String, _ platform: NotificationFormat) -> PlatformPushers.Pusher {
        state.withLock { $0.pushers[hubKey, platform] }
    }

    /// Whether a platform of a hub is simulated: its page and its devices' streams exist then.
    func isTrial(_ hubKey: String) -> Bool { state.withLock { $0.pushers.hasSimulated(hubKey) } }

    /// Replaces the pushers. Connectors that are not among the new ones finish their pushes, and are closed.
    func use(_ pushers: PlatformPushers) {
        let (lanes, former) = state.withLock { state in
            defer { state.pushers = pushers }
            return (Array(state.lanes.values), state.pushers)
        }
        for lane in lanes { lane.use(pushers[lane.key.hub, lane.platform]) }
        let kept = Set(pushers.connectors.map(\.key))
        for (key, connector) in former.connectors where !kept.contains(key) {
            let deadline = ContinuousClock.now + Self.drain
            Task { await connector.close(deadline: deadline) }
        }
    }

    /// The lanes that were used.
    var all: [PushLane] { state.withLock { Array($0.lanes.values) } }

    /// The state of each lane that was used, in the order of their names.
    var reports: [LaneReport] {
        all.map(\.report)
            .sorted { ($0.lane.hub, $0.lane.platform) < ($1.lane.hub, $1.lane.platform) }
    }

    /// The problems that an operator has to correct, for `/readyz`.
    var problems: [String] { reports.compactMap(\.problem) }

    func close(deadline: ContinuousClock.Instant) async {
        let connectors = state.withLock { $0.pushers.connectors }
        await withDiscardingTaskGroup { tasks in
            for (_, connector) in connectors { tasks.addTask { await connector.close(deadline: deadline) } }
        }
    }
}
