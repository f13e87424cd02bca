import Foundation
import SecurePushClient
import Testing

#if os(Linux)
/// A process dies before or after any call of its store, transport or presenter. Later the system starts the app again.
@Suite(.timeLimit(.minutes(10))) struct ProcessDeathTests {
    @Test func deathBetweenAnyTwoStepsLosesNothingAndShowsNothingTwice() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            let report = try await SimulatedExecutor.simulate { DeathReport(seeds: [0, 1]) }
            print(report.summary)
            #expect(report.complaints == [])
            #expect(report.deaths > 200)
        }
        show(result)
    }
}

/// How a wake begins.
enum DeathScenario: String, CaseIterable, Sendable {
    /// A silent push, while another secret waits in the inbox.
    case silent
    /// An alert in the service extension, while another secret waits in the inbox.
    case alert
    /// The access token is refused, so the wake refreshes it.
    case refresh
    /// The user logs in after a prompt.
    case resume
    /// The sender withdraws a notification that is on the screen.
    case withdrawal
    /// A silent push. With `DISPATCH_WITHDRAW=read` the server withdraws the notification that the dead process has
    /// fetched.
    case readEcho
    /// The same with several secrets of the inbox. The app fetches them with one request.
    case pageEcho

    /// Whether the server withdraws the notifications that a device has fetched.
    var hasEcho: Bool { self == .readEcho || self == .pageEcho }

    /// Brings the device to the moment before the wake.
    func prepare(_ device: SimulatedDevice, _ pushed: PushID) async throws {
        switch self {
        case .resume:
            try await device.logIn()
            device.server.endSessions()
            _ = await (try device.start()).client.handle(push: IncomingPush(userInfo: try device.push(pushed)))
        case .withdrawal:
            try await device.logIn()
            _ = await (try device.start()).client.handle(push: IncomingPush(userInfo: try device.push(pushed)))
        case .refresh:
            try await device.logIn()
            device.server.revokeAccessTokens()
        case .silent, .alert, .readEcho, .pageEcho: try await device.logIn()
        }
    }

    /// The wake in which the process may die.
    func wake(_ device: SimulatedDevice, _ app: SimulatedDevice.App, _ pushed: PushID) async {
        guard let push = try? device.push(pushed, withdraw: self == .withdrawal) else { return }
        switch self {
        case .withdrawal:
            device.server.revoke(pushed)
            _ = await app.client.handle(push: IncomingPush(userInfo: push))
        case .silent, .refresh, .readEcho: _ = await app.client.handle(push: IncomingPush(userInfo: push))
        case .pageEcho: _ = await app.client.catchUp()
        case .alert: _ = await device.receiveAlert(push, in: app, name: "wake")
        case .resume:
            try? await app.credentials.logIn(
                userName: SimulatedServer.user, password: SimulatedServer.password)
            _ = await app.client.resumeAfterLogIn()
        }
    }
}

/// Deaths and their consequences.
struct DeathReport: Sendable {
    private(set) var deaths = 0
    private(set) var points: [String: Int] = [:]
    private(set) var complaints: [String] = []

    init(seeds: [UInt64]) {
        for scenario in DeathScenario.allCases {
            for seed in seeds {
                var point = 1
                while die(scenario, at: point, seed: seed) { point += 1 }
                points[scenario.rawValue, default: 0] += point - 1
            }
        }
    }

    var summary: String {
        let list = points.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
        return "Process deaths: \(deaths) (\(list)). Lost or shown twice: \(complaints.count)."
            + complaints.prefix(40).map { "\n  \($0)" }.joined()
    }

    /// - Returns: whether the process died there; false if the wake has no such point.
    private mutating func die(_ scenario: DeathScenario, at point: Int, seed: UInt64) -> Bool {
        let result = Result()
        do { try Self.live(scenario, dyingAt: point, seed: seed, result) } catch {
            complaints.append("\(scenario), seed \(seed), point \(point) (\(result.point)): \(error)")
            return result.hasDied
        }
        guard result.hasDied else { return false }
        deaths += 1
        if result.shown != [1, 1] {
            complaints.append("\(scenario), seed \(seed), point \(point) (\(result.point)): shown \(result.shown)")
        }
        return true
    }

    private static func live(_ scenario: DeathScenario, dyingAt point: Int, seed: UInt64, _ result: Result) throws {
        let device = SimulatedDevice()
        try SimulatedExecutor.run(seed: seed, clock: device.clock) {
            let missed = device.server.send()
            let pushed = device.server.send()
            try await scenario.prepare(device, pushed)
            let app = try device.start(diesAt: point)
            let lived = await app.process.live { await scenario.wake(device, app, pushed) }
            result.hasDied = !lived
            result.point = app.process.points.last ?? ""
            // The next wakes, each in a new process: the app, a repeated push, the app again.
            try await device.clock.sleep(for: 60)
            if scenario.hasEcho { try await device.echoReads(in: { try device.start() }) }
            _ = try await device.start().client.catchUp()
            if device.screen.isPrompting {
                try await device.logIn()
                _ = try await device.start().client.resumeAfterLogIn()
            }
            try await device.clock.sleep(for: 60)
            for id in [missed, pushed] {
                _ = try await device.start().client.handle(push: IncomingPush(userInfo: try device.push(id)))
            }
            _ = try await device.start().client.catchUp()
            result.shown = [missed, pushed].map { device.screen.secrets[$0] ?? 0 }
        }
    }

    /// Unchecked, because only the thread of the simulation touches it.
    private final class Result: @unchecked Sendable {
        var hasDied = false
        var point = ""
        var shown: [Int] = []
    }
}
#endif
