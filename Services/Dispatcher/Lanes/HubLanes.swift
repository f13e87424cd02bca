import Logging
import SecurePushCore
import Synchronization

/// The lanes of one hub, one per platform.
final class HubLanes: Sendable {
    let all: [Lane]
    private let lanes: [Platform: Lane]

    init(
        _ settings: LaneSettings, gateway: any PushGateway, logger: Logger,
        deliver: @escaping @Sendable (LaneSend, LaneAnswer) -> Void
    ) {
        all = settings.platforms.map { platform in
            Lane(platform: platform, gateway: gateway, settings: settings, logger: logger, deliver: deliver)
        }
        lanes = Dictionary(all.map { ($0.platform, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// - Returns: `false` for a platform that has no lane.
    func submit(_ send: LaneSend) -> Bool {
        guard let lane = lanes[send.notification.platform] else { return false }
        lane.submit(send)
        return true
    }

    /// The dispatcher stops: only requests at the hub are waited for.
    func close() {
        for lane in all { lane.close() }
    }
}

/// The lanes of several hubs (`HUB_POOL_FILE`). Each hub has lanes of its own, so a hub that throttles or fails holds
/// its own users' notifications only.
final class LanePool: Sendable {
    typealias Source = @Sendable () -> HubTable<any PushGateway>

    private struct State {
        var table: HubTable<any PushGateway>
        /// In the order of the table's members.
        var lanes: [HubLanes]
        var isClosed = false
    }

    private let source: Source
    private let make: @Sendable (HubTable<any PushGateway>.Member) -> HubLanes
    private let state: Mutex<State>

    /// - Parameters:
    ///   - settings: of each hub's lanes.
    ///   - source: the hubs at the moment.
    init(
        _ settings: LaneSettings, source: @escaping Source, logger: Logger,
        deliver: @escaping @Sendable (LaneSend, LaneAnswer) -> Void
    ) {
        self.source = source
        let make: @Sendable (HubTable<any PushGateway>.Member) -> HubLanes = { member in
            var settings = settings
            (settings.hub, settings.endpoint, settings.isPooled) = (member.label, member.endpoint, true)
            return HubLanes(settings, gateway: member.client, logger: logger, deliver: deliver)
        }
        self.make = make
        let table = source()
        state = Mutex(State(table: table, lanes: table.members.map(make)))
    }

    /// All lanes.
    var all: [Lane] { state.withLock { $0.lanes.flatMap(\.all) } }

    /// The lanes of a recipient's hub.
    func lanes(for recipient: UserName) -> HubLanes {
        let tag = recipient.tag
        return state.withLock { $0.lanes[$0.table.selection.position(of: tag)] }
    }

    /// Makes lanes for new hubs, and closes those of hubs that left. Their waiting sends are sent later by the user's
    /// current hub.
    func refresh() {
        let table = source()
        let left = state.withLock { state -> [HubLanes] in
            guard !state.isClosed, table !== state.table else { return [] }
            let known = zip(state.table.members, state.lanes).map { (member: $0, lanes: $1) }
            let lanes = table.members.map { member in
                known.first { $0.member === member }?.lanes ?? make(member)
            }
            state.table = table
            state.lanes = lanes
            return known.map(\.lanes).filter { old in !lanes.contains { $0 === old } }
        }
        for lanes in left {
            lanes.close()
            for lane in lanes.all { lane.retire() }
        }
    }

    /// The dispatcher stops.
    func close() {
        let lanes = state.withLock { state in
            state.isClosed = true
            return state.lanes
        }
        for lanes in lanes { lanes.close() }
    }
}
