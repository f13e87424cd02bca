import ChaosChecker
import Foundation
import StackKit
import Synchronization

/// The strict Web Push service of `scripts/push-services.sh`, to which hubs of one's own push: it accepts pushes one
/// by one and knows which of its answers were lost.
final class WebPushBackend: PushBackend {
    private struct State: Sendable {
        var isSilent = false
        var isStorming = false
        var hasFaults = false
        /// The requests that were left without an answer, as the service counts them.
        var silences = 0
    }

    /// One answer of five is a bad one. The services are asked again after a second, as far as they name a time.
    private static let rates =
        #""serverError":0.08,"throttled":0.05,"goaway":0.02,"lost":0.05,"retryAfter":1"#
    /// A push has its answer, and the connection is known to have lived on, after this time.
    private static let settled = 0.25

    let service: FakePushService
    /// Of all devices.
    let subscriptions: [FakePushService.Device]
    private let program: Program
    private let seed: UInt64
    private let state = Mutex(State())

    private init(
        _ service: FakePushService, _ program: Program, _ subscriptions: [FakePushService.Device], seed: UInt64
    ) {
        (self.service, self.program, self.subscriptions) = (service, program, subscriptions)
        self.seed = seed % 1_000_000
    }

    /// Starts the service on two ports, and makes the subscriptions of all devices.
    ///
    /// - Parameter key: the hub's public key in base64url.
    static func start(
        _ options: ChaosOptions, in folder: RunFolder, firstPort: Int, scripts: Scripts, key: String
    ) async throws -> WebPushBackend {
        let (service, program) = try await FakePushService.start(
            .webPush, in: folder.pushService, options: ["--port", "\(firstPort)", "--admin-port", "\(firstPort + 1)"],
            scripts: scripts, record: folder.run.appending(path: "web-push.pid"))
        do {
            let subscriptions = try await subscribe(options.recipients * options.devicesOfUser, at: service, key: key)
            return WebPushBackend(service, program, subscriptions, seed: options.seed)
        } catch {
            await FakePushService.end(program)
            throw error
        }
    }

    /// Makes subscriptions of each kind of service by turns, so that a user's devices have different ones.
    private static func subscribe(
        _ count: Int, at service: FakePushService, key: String
    ) async throws -> [FakePushService.Device] {
        let kinds = ["apple", "google", "mozilla", "windows"]
        let share = (count + kinds.count - 1) / kinds.count
        var made: [[FakePushService.Device]] = []
        for kind in kinds { made.append(try await service.devices(share, .webPush(key: key, service: kind))) }
        return (0..<count).map { made[$0 % kinds.count][$0 / kinds.count] }
    }

    func end() async { await FakePushService.end(program) }

    let place = "pushes"

    let faults = "errors of the push service (8 % 5xx, 5 % 429, 2 % GOAWAY, 5 % taken and unanswered)"

    func page(after sequence: Int) async throws -> PushPage {
        let pushes = try await service.pushes(from: sequence, limit: PushPage.limit)
        let now = Date.now.timeIntervalSince1970
        let ended = pushes.prefix { $0.time < now - Self.settled }
        return PushPage(
            crossings: ended.map(Self.crossing), last: ended.last.map { $0.number + 1 }, count: ended.count,
            missing: max(0, (ended.first?.number ?? sequence) - sequence), unanswered: try await newSilences(),
            bytes: ended.flatMap { $0.body ?? [] })
    }

    private static func crossing(_ push: FakePushService.Push) -> Crossing {
        Crossing(
            sequence: push.number + 1, platform: "browser", time: Int64(push.time * 1000), body: push.text ?? "",
            accepted: true, status: push.answer == "sent" ? 201 : nil,
            fault: push.answer == "sent" ? nil : push.answer, handles: [push.device],
            audience: push.device)
    }

    private func newSilences() async throws -> Int {
        guard state.withLock({ $0.isSilent }) else { return 0 }
        let count = try await service.state().counts["faults.silence"] ?? 0
        return state.withLock { state in
            defer { state.silences = count }
            return max(0, count - state.silences)
        }
    }

    func beginFaults() async throws { try await change { $0.hasFaults = true } }
    func endFaults() async throws { try await change { $0.hasFaults = false } }
    func beginStorm(_ milliseconds: Int) async throws { try await change { $0.isStorming = true } }
    func endStorm() async throws { try await change { $0.isStorming = false } }
    func beginSilence() async throws { try await change { $0.isSilent = true } }
    func endSilence() async throws { try await change { $0.isSilent = false } }

    /// A storm and a silence take the place of the other faults.
    private func change(_ body: (inout State) -> Void) async throws {
        let state = state.withLock { state in
            body(&state)
            return state
        }
        let rates =
            if state.isSilent { #""silence":1"# } else if state.isStorming { #""throttled":1,"retryAfter":2"# } else {
                state.hasFaults ? Self.rates : #""serverError":0"#
            }
        try await service.setFaults("{\(rates),\"seed\":\(seed)}")
    }
}
