import Domain
import Logging
import Synchronization

/// The lanes of all platforms, between the pipeline and the gateways. A lane is one platform's queue with its limit and
/// its circuit. Each hub has lanes of its own, so a hub that throttles or fails holds the notifications of its own
/// users only.
final class Lanes: Sendable {
    typealias Source = @Sendable () -> HubTable<any PushGateway>

    private struct State {
        var hubs: HubTable<any PushGateway>
        /// In the order of the table's members.
        var lanes: [HubLanes]
        var isClosed = false
    }

    private let settings: LaneSettings
    private let source: Source
    private let make: @Sendable (HubTable<any PushGateway>.Member) -> HubLanes
    private let state: Mutex<State>

    /// How often the lanes are compared.
    private static let tickInterval = Duration.milliseconds(100)
    /// The longest rest of the intake while all lanes are paused: deliveries must not wait unclaimed for long.
    private static let maxRest = Duration.seconds(1)
    private static let nap = Duration.milliseconds(50)

    /// - Parameter pool: the hubs at the moment, if there are several (`HUB_POOL_FILE`); the gateway is not used then.
    init(
        _ settings: LaneSettings, gateway: any PushGateway, pool: Source? = nil, logger: Logger,
        deliver: @escaping @Sendable (LaneSend, LaneAnswer) -> Void
    ) {
        let single = HubTable([.init(label: settings.hub, endpoint: settings.endpoint, client: gateway)])
        let source = pool ?? { single }
        let make: @Sendable (HubTable<any PushGateway>.Member) -> HubLanes = { hub in
            var settings = settings
            (settings.hub, settings.endpoint, settings.isPooled) = (hub.label, hub.endpoint, pool != nil)
            return HubLanes(hub, settings, logger: logger, deliver: deliver)
        }
        let hubs = source()
        state = Mutex(State(hubs: hubs, lanes: hubs.members.map(make)))
        (self.settings, self.source, self.make) = (settings, source, make)
    }

    private var all: [Lane] { state.withLock { $0.lanes.flatMap(\.all) } }

    /// The lanes of a recipient's hub.
    func lanes(for recipient: UserName) -> HubLanes {
        let state = state.withLock { $0 }
        return state.lanes[state.hubs.selection.position(of: recipient.tag)]
    }

    /// Makes lanes for new hubs, and closes those of hubs that left. Their waiting sends are sent later by the user's
    /// current hub.
    private func refresh() {
        let hubs = source()
        let left = state.withLock { state -> [HubLanes] in
            guard !state.isClosed, hubs !== state.hubs else { return [] }
            let known = state.lanes
            let lanes = hubs.members.map { hub in known.first { $0.hub === hub } ?? make(hub) }
            state = State(hubs: hubs, lanes: lanes)
            return known.filter { old in !lanes.contains { $0 === old } }
        }
        for lane in left.flatMap(\.all) {
            lane.close()
            lane.retire()
        }
    }

    /// The dispatcher stops: only requests at the hub are waited for.
    func close() {
        state.withLock { $0.isClosed = true }
        for lane in all { lane.close() }
    }

    /// Whether no lane lets traffic through.
    var areAllPaused: Bool { all.allSatisfy { $0.load.isPaused } }

    /// Waits until a lane is open or may be probed, at most a second. While all lanes are paused, deliveries would only
    /// be taken to be held.
    func rest() async {
        var left = Self.maxRest
        while left > .zero, !Task.isCancelled, areAllPaused {
            // There is at least one nap: otherwise groups without a send for the lane that may be probed would make
            // this a busy loop.
            await settings.clock.sleep(Self.nap)
            left -= Self.nap
            let now = settings.clock.now()
            if all.contains(where: { $0.load.mayBeProbed(now: now) }) { return }
        }
    }

    /// Compares the lanes ten times per second until the task is cancelled.
    func watch() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.tickInterval)
            tick()
        }
    }

    /// A lane whose backlog would starve the others begins to shed.
    ///
    /// A delivery is settled when all its platforms have answered, so the queue of a slow lane could take up the whole
    /// limit of notifications in flight. A lane is slow if three conditions are met: its queue waits longer than in a
    /// burst; it has a quarter of all notifications in flight; and another lane with about as many answers has at most
    /// a quarter of its load. So lanes that are slow together do not shed, nor does a lane with all the traffic:
    /// shedding would not help there.
    func tick() {
        refresh()
        let all = all
        for lane in all { lane.tick() }
        let loads = all.map(\.load)
        for (lane, load) in zip(all, loads) {
            guard !load.isPaused, load.keepsWaiting, load.occupancy * 4 >= settings.maxInFlight else { continue }
            let isAlone = loads.contains { other in
                !other.isPaused && other.occupancy * 4 <= load.occupancy && other.flow >= 0.5
                    && other.flow * 2 >= load.flow
            }
            if isAlone { lane.shed() }
        }
    }
}

/// The lanes of one hub, one per platform.
final class HubLanes: Sendable {
    let hub: HubTable<any PushGateway>.Member
    let all: [Lane]

    init(
        _ hub: HubTable<any PushGateway>.Member, _ settings: LaneSettings, logger: Logger,
        deliver: @escaping @Sendable (LaneSend, LaneAnswer) -> Void
    ) {
        self.hub = hub
        all = settings.platforms.map { platform in
            Lane(platform: platform, gateway: hub.client, settings: settings, logger: logger, deliver: deliver)
        }
    }

    /// - Returns: `false` for a platform that has no lane.
    func submit(_ send: LaneSend) -> Bool {
        guard let lane = all.first(where: { $0.platform == send.notification.platform }) else { return false }
        lane.submit(send)
        return true
    }
}
