import Logging
import SecurePushCore

/// The lanes of all platforms, between the pipeline and the gateway.
struct Lanes: Sendable {
    private let lanes: [Platform: Lane]
    private let all: [Lane]
    private let settings: LaneSettings

    /// How often the lanes are compared.
    private static let tickInterval = Duration.milliseconds(100)
    /// The longest that the intake rests while every lane is paused: what is handed out must not grow old unclaimed.
    private static let maxRest = Duration.seconds(1)
    private static let nap = Duration.milliseconds(50)

    init(
        _ settings: LaneSettings, gateway: any PushGateway, logger: Logger,
        deliver: @escaping @Sendable (LaneSend, LaneAnswer) -> Void
    ) {
        self.settings = settings
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

    /// Whether no lane lets traffic through.
    var areAllPaused: Bool { all.allSatisfy { $0.load.isPaused } }

    /// While every lane is paused there is no sense in taking many deliveries only to hold them: waits until a lane is
    /// open again or may be probed, a second at most.
    func rest() async {
        var left = Self.maxRest
        while left > .zero, !Task.isCancelled, areAllPaused {
            // At least one nap: a group that owes nothing to the lane that may be probed must not make this a busy
            // loop.
            await settings.clock.sleep(Self.nap)
            left -= Self.nap
            let now = settings.clock.now()
            if all.contains(where: { $0.load.mayBeProbed(now: now) }) { return }
        }
    }

    /// The dispatcher stops: only what is at the hub is waited for.
    func close() {
        for lane in all { lane.close() }
    }

    /// Compares the lanes ten times a second, until cancelled.
    func watch() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.tickInterval)
            tick()
        }
    }

    /// A lane that holds up the others stops letting sends wait.
    ///
    /// A delivery is settled when all its platforms have answered, so a slow lane would fill all the room with what
    /// waits for it. It is taken for slow when what waits in it waits longer than a burst takes, it has a quarter of
    /// the room, and another lane that does about as much has a quarter of its load. So lanes that are slow
    /// together, and a platform that has all the traffic, are left alone: holding would help nobody.
    func tick() {
        for lane in all { lane.tick() }
        let loads = all.map(\.load)
        for (lane, load) in zip(all, loads) {
            guard !load.isPaused, load.keepsWaiting, load.occupancy * 4 >= settings.maxInFlight else { continue }
            let isAlone = loads.contains { other in
                !other.isPaused && other.occupancy * 4 <= load.occupancy && other.flow >= 0.5
                    && other.flow * 2 >= load.flow
            }
            if isAlone { lane.fallBehind() }
        }
    }
}
