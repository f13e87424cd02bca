import Domain
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// A dispatcher with several hubs (`HUB_POOL_FILE`).
@Suite struct HubPoolLaneTests {
    let bench = DispatchBench()

    /// Hubs that a test can change while the pipeline runs.
    private final class Hubs: Sendable {
        private let table: Mutex<HubTable<any PushGateway>>

        init(_ hubs: [String: FakeGateway]) { table = Mutex(Hubs.table(hubs, nil)) }

        var current: HubTable<any PushGateway> { table.withLock { $0 } }

        func change(_ hubs: [String: FakeGateway]) { table.withLock { $0 = Hubs.table(hubs, $0) } }

        /// A hub that stays keeps its member.
        private static func table(
            _ hubs: [String: FakeGateway], _ last: HubTable<any PushGateway>?
        ) -> HubTable<any PushGateway> {
            HubTable(hubs.map { last?.member(named: $0.key) ?? .init(label: $0.key, client: $0.value) })
        }
    }

    private func withPipeline(_ hubs: Hubs, _ body: () async throws -> Void) async throws {
        try await bench.with { $0.hubs = { hubs.current } }.withPipeline(FakeGateway(), body)
    }

    private func stored(for name: String) async throws -> NotificationID {
        let user = try #require(UserName(name))
        return try await bench.stored { $0.recipient = user }
    }

    @Test func `Each user's pushes go to the user's hub`() async throws {
        let gateways = ["hub-a": FakeGateway(), "hub-b": FakeGateway(), "hub-c": FakeGateway()]
        let selection = HubSelection(Array(gateways.keys))
        let users = (0..<40).map { "user-\($0)" }
        try await withPipeline(Hubs(gateways)) {
            for user in users { bench.broker.deliver(DispatchMessage(id: try await stored(for: user))) }
        }
        for (name, gateway) in gateways {
            let expected = try users.filter { user in
                selection.name(for: try #require(UserName(user))) == name
            }
            #expect(expected.count > 3)
            let sent = gateway.sent
            #expect(Set(sent.map(\.tag)) == Set(expected.map { "username:\($0)" }))
            #expect(sent.count == 3 * expected.count)
        }
        #expect(bench.broker.record.acknowledged.count == users.count)
    }

    /// alice's hub is hub-b, bob's is hub-a.
    @Test func `A hub that throttles holds only its own users`() async throws {
        let throttled = Array(repeating: SendOutcome.throttled(retryAfter: .seconds(600)), count: 100)
        let busy = FakeGateway([.apple: throttled, .fcmv1: throttled, .windows: throttled])
        let idle = FakeGateway()
        try await withPipeline(Hubs(["hub-a": idle, "hub-b": busy])) {
            bench.broker.deliver(DispatchMessage(id: try await stored(for: "alice")))
            try await expectEventually { bench.broker.record.published.count == 1 }
            // The lanes of hub-b are paused now.
            for _ in 0..<20 {
                bench.broker.deliver(DispatchMessage(id: try await stored(for: "bob")))
                bench.broker.deliver(DispatchMessage(id: try await stored(for: "alice")))
            }
            try await expectEventually { bench.broker.record.acknowledged.count == 41 }
        }
        #expect(busy.sent.count == 3)
        #expect(idle.sent.count == 60 && idle.sent.allSatisfy { $0.tag == "username:bob" })
        // A hold uses up no attempt.
        let published = bench.broker.record.published
        #expect(published.count == 21 && published.allSatisfy { $0.message.attempt == 1 })
    }

    @Test func `A change of the file moves the lanes`() async throws {
        let (first, second, new) = (FakeGateway(), FakeGateway(holding: true), FakeGateway())
        let hubs = Hubs(["hub-a": first, "hub-b": second])
        try await withPipeline(hubs) {
            // alice's hub is hub-b, and hub-c once there is one. A request is in flight at hub-b meanwhile.
            bench.broker.deliver(DispatchMessage(id: try await stored(for: "alice")))
            try await expectEventually { second.sent.count == 3 }
            hubs.change(["hub-a": first, "hub-c": new])
            try await expectEventually {
                bench.broker.deliver(DispatchMessage(id: try await stored(for: "alice")))
                return !new.sent.isEmpty
            }
            second.letGo()
        }
        #expect(new.sent.allSatisfy { $0.tag == "username:alice" } && first.sent.isEmpty)
        #expect(bench.broker.record.requeued.isEmpty && bench.broker.record.published.isEmpty)
    }
}
