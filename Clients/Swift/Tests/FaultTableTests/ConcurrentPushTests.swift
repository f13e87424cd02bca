import Foundation
import SecurePushClient
import Testing

#if os(Linux)
/// Many pushes at the same time, in many orders of events.
@Suite(.timeLimit(.minutes(10))) struct ConcurrentPushTests {
    @Test func fiftyPushesAtOnceShowEachSecretOnce() async throws {
        let result = await #expect(
            processExitsWith: .success, observing: [\.standardOutputContent, \.standardErrorContent]
        ) {
            let (text, complaints) = try await SimulatedExecutor.simulate { try Self.run(pushes: 50, seeds: 0..<5) }
            print(text)
            #expect(complaints == [])
        }
        show(result)
    }

    /// In each run half of the pushes are silent and half are alerts, each comes twice, the app and the extension are
    /// two processes with one store, and the access token is refused at first.
    private static func run(pushes: Int, seeds: Range<UInt64>) throws -> (String, [String]) {
        var complaints: [String] = []
        var (shown, inboxes, refreshes, slowest) = (0, 0, 0, 0.0)
        for seed in seeds {
            let device = SimulatedDevice()
            try SimulatedExecutor.run(seed: seed, clock: device.clock) {
                try await device.logIn()
                device.server.revokeAccessTokens()
                let ids = (0..<pushes).map { _ in device.server.send() }
                let app = try device.start()
                let service = try device.start()
                let begin = device.clock.uptime
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, id) in (ids + ids).enumerated() {
                        let push = SendablePush(push: try device.push(id))
                        group.addTask {
                            if number % 2 == 0 {
                                _ = await app.client.handle(push: IncomingPush(userInfo: push.push))
                            } else {
                                _ = await device.receiveAlert(push.push, in: service, name: "\(number)")
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                let elapsed = device.clock.uptime - begin
                _ = try await device.start().client.catchUp()
                let counts = ids.map { device.screen.secrets[$0] ?? 0 }
                Totals.shared.add(counts.reduce(0, +), device.server, elapsed)
                if counts.contains(where: { $0 != 1 }) || elapsed > 28
                    || device.completions.count != pushes || device.completions.values.contains(where: { $0 != 1 })
                {
                    Totals.shared.complain("seed \(seed): shown \(counts), \(elapsed) s, \(device.completions)")
                }
            }
        }
        (shown, inboxes, refreshes, slowest) = Totals.shared.values
        complaints = Totals.shared.complaints
        let text = """
            \(pushes) notifications, each pushed twice at once, in \(seeds.count) orders of events: \(shown) secrets \
            shown (\(seeds.count * pushes) expected), \(inboxes) inbox requests, \(refreshes) token requests, slowest \
            \(slowest.formatted()) s. Wrong: \(complaints.count).
            """
        return (text + complaints.prefix(20).map { "\n  \($0)" }.joined(), complaints)
    }

    /// A push on its way into a task. Unchecked: nothing changes it any more.
    private struct SendablePush: @unchecked Sendable {
        let push: [AnyHashable: Any]
    }

    /// Unchecked, because only the thread of the simulation touches it.
    private final class Totals: @unchecked Sendable {
        static let shared = Totals()
        private(set) var values = (0, 0, 0, 0.0)
        private(set) var complaints: [String] = []

        func add(_ shown: Int, _ server: SimulatedServer, _ elapsed: TimeInterval) {
            values.0 += shown
            values.1 += server.count(of: "GET /api/notifications") - server.count(of: "GET /api/notifications/")
            values.2 += server.count(of: "POST /api/token")
            values.3 = max(values.3, elapsed)
        }

        func complain(_ text: String) { complaints.append(text) }
    }
}
#endif
