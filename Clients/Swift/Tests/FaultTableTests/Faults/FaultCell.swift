import Foundation
import SecurePushClient

/// One cell of the table: a wake with one fault at one stage, and afterwards a device on which everything works again.
struct FaultCell: Sendable, CustomStringConvertible {
    /// How the push reaches the client.
    enum Way: String, CaseIterable, Sendable {
        /// A silent push, in the app.
        case silent
        /// An alert, in the service extension.
        case alert
        /// A silent push. With `DISPATCH_WITHDRAW=read` the next wakes are withdrawals of the fetched notifications.
        case echo
    }

    let fault: Fault
    let stage: Stage
    let length: FaultLength
    let way: Way
    let seed: UInt64

    var description: String { "\(fault) at \(stage), \(length), \(way), seed \(seed)" }

    /// The observations of one run.
    struct Observation: Sendable {
        var struck = false
        var completions = 0
        var seconds: TimeInterval = 0
        /// Whether the secret of the push was shown in the wake.
        var shown = 0
        var hints = 0
        var requests = 0
        /// How often each of the two secrets was shown at the end, after everything worked again.
        var finallyShown: [Int] = []
        var strayRequests = 0
        var leaks = 0
    }

    /// The cells of the table. The service extension gets `timeWillExpire`, so silent pushes have no such stage.
    static func all(seeds: [UInt64]) -> [FaultCell] {
        var cells: [FaultCell] = []
        for fault in Fault.all {
            for stage in Stage.allCases {
                for length in FaultLength.allCases {
                    for way in Way.allCases where way == .alert || stage != .timeWillExpire {
                        cells += seeds.map { FaultCell(fault: fault, stage: stage, length: length, way: way, seed: $0) }
                    }
                }
            }
        }
        return cells
    }

    @available(macOS 15, *)
    func run() throws -> Observation {
        let device = SimulatedDevice()
        let seen = Seen()
        try SimulatedExecutor.run(seed: seed, clock: device.clock) {
            seen.observation = try await observe(device)
        }
        return seen.observation
    }

    private func observe(_ device: SimulatedDevice) async throws -> Observation {
        var seen = Observation()
        let plan = FaultPlan(fault, at: stage, length: length, clock: device.clock, disk: device.disk)
        let missed = device.server.send()
        let pushed = device.server.send()
        try await prepare(device)
        let push = try device.push(pushed)
        let app = try device.start(faults: plan)
        plan.attack = { for push in HostilePush.all(of: pushed) { Task { _ = await app.client.handle(push: push) } } }
        plan.reach(.parse)
        (seen.seconds, seen.completions) = try await wake(device, app, plan, push)
        seen.struck = plan.hasStruck
        seen.shown = device.screen.secrets[pushed] ?? 0
        seen.hints = device.screen.hints
        seen.requests = device.server.log.count
        try await recover(device, plan, [missed, pushed], app)
        seen.finallyShown = [missed, pushed].map { device.screen.secrets[$0] ?? 0 }
        seen.strayRequests = device.server.strayRequests
        seen.leaks = leaks(device)
        return seen
    }

    /// Before the push: the user has logged in, and the access token is good, expired, refused or gone.
    private func prepare(_ device: SimulatedDevice) async throws {
        try await device.logIn()
        switch stage {
        case .resume: device.server.endSessions()
        case .token: device.clock.dateOffset += 2 * 3_600
        case .refresh: device.server.revokeAccessTokens()
        default: break
        }
    }

    /// - Returns: the seconds until the completion, and the number of completions.
    private func wake(
        _ device: SimulatedDevice, _ app: SimulatedDevice.App, _ plan: FaultPlan, _ push: [AnyHashable: Any]
    ) async throws -> (TimeInterval, Int) {
        let incoming = IncomingPush(userInfo: push)
        plan.reach(.verify)
        if stage == .timeWillExpire { plan.reach(.timeWillExpire) }
        var begin = device.clock.uptime
        if way == .alert {
            let limit: TimeInterval = stage == .timeWillExpire ? 2 : 30
            var seconds = await device.receiveAlert(push, in: app, name: "push", expiresAfter: limit)
            if stage == .resume { seconds = try await resume(device, app, plan) }
            // Whatever still runs must not complete again.
            try await device.clock.sleep(for: 60)
            return (seconds, device.completions["push"] ?? 0)
        }
        var completions = 0
        _ = await app.client.handle(push: incoming)
        completions += 1
        var seconds = device.clock.uptime - begin
        if stage == .resume { seconds = try await resume(device, app, plan) }
        begin = device.clock.uptime
        try await device.clock.sleep(for: 60)
        return (seconds, completions)
    }

    /// The prompt is on the screen. The fault begins after the user has logged in.
    private func resume(
        _ device: SimulatedDevice, _ app: SimulatedDevice.App, _ plan: FaultPlan
    ) async throws -> TimeInterval {
        try await device.logIn()
        plan.reach(.resume)
        let begin = device.clock.uptime
        _ = await app.client.resumeAfterLogIn()
        return device.clock.uptime - begin
    }

    /// Everything works again, a minute later: the withdrawals that follow a fetch come, the app comes to the front,
    /// and the user logs in if that is needed.
    private func recover(
        _ device: SimulatedDevice, _ plan: FaultPlan, _ ids: [PushID], _ first: SimulatedDevice.App
    ) async throws {
        plan.heal()
        try await device.clock.sleep(for: 60)
        // Changes that could not be stored are in the memory of the process. If it ends, a secret may be shown again.
        let isMemoryNeeded = [.storeFull, .storeReadOnly, .storeHangs, .storeThrows].contains(fault)
        let app = isMemoryNeeded ? first : try device.start()
        if way == .echo { try await device.echoReads(in: { app }) }
        let report = await app.client.catchUp()
        try await device.clock.sleep(for: 60)
        if device.screen.isPrompting || report.code == .loggedOut || report.code == .status(401) {
            try await device.logIn()
            _ = await app.client.resumeAfterLogIn()
        }
        // The sender repeats its pushes. No process may show their secrets again.
        let next = try device.start()
        for id in ids { _ = await next.client.handle(push: IncomingPush(userInfo: try device.push(id))) }
        _ = await next.client.catchUp()
    }

    /// Texts on the screen that are no secret of this user.
    private func leaks(_ device: SimulatedDevice) -> Int {
        device.screen.texts.subtracting(device.server.stored.map(\.payload)).count
            + device.screen.notices.filter { !$0.localizationKey.hasPrefix("securepush.") }.count
    }

    /// Unchecked, because only the thread of the simulation touches it.
    private final class Seen: @unchecked Sendable {
        var observation = Observation()
    }
}
