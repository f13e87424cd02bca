import Logging
import SecurePushCore

/// The lanes of all platforms, between the pipeline and the gateway. A lane is one platform's queue with its limit and
/// its circuit; with several hubs, each hub has lanes of its own.
struct Lanes: Sendable {
    private let hubs: Hubs
    private let settings: LaneSettings

    private enum Hubs: Sendable {
        case single(HubLanes)
        case pool(LanePool)
    }

    /// How often the lanes are compared.
    private static let tickInterval = Duration.milliseconds(100)
    /// The longest rest of the intake while all lanes are paused: deliveries must not wait unclaimed for long.
    private static let maxRest = Duration.seconds(1)
    private static let nap = Duration.milliseconds(50)

    /// - Parameter pool: the hubs, if there are several; the gateway is not used then.
    init(
        _ settings: LaneSettings, gateway: any PushGateway, pool: LanePool.Source? = nil, logger: Logger,
        deliver: @escaping @Sendable (LaneSend, LaneAnswer) -> Void
    ) {
        self.settings = settings
        hubs =
            if let pool {
                .pool(LanePool(settings, source: pool, logger: logger, deliver: deliver))
            } else {
                .single(HubLanes(settings, gateway: gateway, logger: logger, deliver: deliver))
            }
    }

    private var all: [Lane] {
        switch hubs {
        case .single(let lanes): lanes.all
        case .pool(let pool): pool.all
        }
    }

    /// The lanes of a recipient's hub.
    func lanes(for recipient: UserName) -> HubLanes {
        switch hubs {
        case .single(let lanes): lanes
        case .pool(let pool): pool.lanes(for: recipient)
        }
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

    /// The dispatcher stops: only requests at the hub are waited for.
    func close() {
        switch hubs {
        case .single(let lanes): lanes.close()
        case .pool(let pool): pool.close()
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
        if case .pool(let pool) = hubs { pool.refresh() }
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

/// The settings of the lanes.
struct LaneSettings: Sendable {
    /// The platforms of `HUB_PLATFORMS`.
    var platforms: [Platform]
    /// The maximum of requests to a hub in flight, of all its lanes together (`DISPATCH_CONCURRENCY`).
    var concurrency = 768
    /// The maximum of unacknowledged deliveries (`DISPATCH_PREFETCH`).
    var prefetch = 1024
    /// The maximum of notifications that are claimed and not settled, which also limits a lane's queue: twice the
    /// number of requests, so that each lane has a next send waiting, or the prefetch if that is less.
    var maxInFlight: Int { max(1, min(prefetch, concurrency * 2)) }
    /// The hub's name (`HUB_NAME`), for metrics and logs.
    var hub = "hub"
    /// The URL of the hub's namespace, for logs.
    var endpoint = ""
    /// Whether the hub is one of several (`HUB_POOL_FILE`).
    var isPooled = false
    var clock = LaneClock.system

    /// The maximum of requests of one lane. It is an equal share, so that no lane can take the connections of another,
    /// and at most half of the notifications in flight, so that the others go on if the hub stops answering for one
    /// platform. It is at least 1: if there are more lanes than requests, the hub client has the final limit.
    var share: Int {
        max(1, min(concurrency / max(1, platforms.count), maxInFlight / 2))
    }
}

/// The monotonic clock of the lanes. Tests have their own, in which time passes quickly.
struct LaneClock: Sendable {
    typealias Instant = ContinuousClock.Instant

    var now: @Sendable () -> Instant
    /// Waits; returns early if the task is cancelled.
    var sleep: @Sendable (Duration) async -> Void

    static let system = LaneClock(now: { .now }, sleep: { try? await Task.sleep(for: $0) })
}
