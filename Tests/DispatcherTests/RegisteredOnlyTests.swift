import Domain
import Foundations
import TestSupport
import Testing

@testable import Dispatcher

/// `DISPATCH_REGISTERED_ONLY`: platforms on which the recipient has no device are skipped.
@Suite struct RegisteredOnlyTests {
    let bench = DispatchBench()

    private func registerIPhoneAndBrowser(of name: String) async throws {
        let user = try #require(UserName(name))
        try await bench.store.save(
            Registration(id: "1", owner: user, platform: .apns, handle: "AB", updatedAt: .now))
        try await bench.store.save(
            Installation(
                id: "2", owner: user, platform: .browser, handle: "https://push.example", document: [],
                updatedAt: .now))
    }

    @Test func `Only platforms with a device are sent to`() async throws {
        let gateway = FakeGateway()
        try await registerIPhoneAndBrowser(of: "alice")
        let id = try await bench.stored()
        try await bench.with { $0.registered = bench.store }.dispatch([DispatchMessage(id: id)], gateway)
        #expect(gateway.sent.map(\.platform) == [.apple])
        #expect(try await bench.store.status(of: id) == .dispatched)
        let states = try await bench.deliveries(id).mapValues(\.state)
        #expect(states == [.apple: .sent, .fcmv1: .skipped, .windows: .skipped])
        #expect(bench.broker.record.acknowledged == [1])
    }

    @Test func `A platform that was only held is not begun yet`() throws {
        let alice = try #require(UserName("alice"))
        var plan = DispatchPlan(
            id: NotificationID(), recipient: alice, expiresAt: .now + .seconds(60),
            deliveries: [
                Delivery(platform: .fcmv1, state: .pending, error: "held", updatedAt: .now),
                Delivery(platform: .windows, state: .retrying, attempts: 1, updatedAt: .now),
            ])
        let skipped = plan.skip(bench.policy, except: [.apple], now: .now)
        #expect(skipped == [.fcmv1])
        #expect(plan.deliveries.map(\.platform) == [.windows, .fcmv1])
        #expect(plan.deliveries.map(\.state) == [.retrying, .skipped])
    }

    @Test func `A recipient without devices costs no hub operation`() async throws {
        let gateway = FakeGateway()
        try await registerIPhoneAndBrowser(of: "bob")
        let id = try await bench.stored()
        try await bench.with { $0.registered = bench.store }.dispatch([DispatchMessage(id: id)], gateway)
        #expect(gateway.sent.isEmpty)
        #expect(try await bench.store.status(of: id) == .dispatched)
        #expect(bench.broker.record.acknowledged == [1])
        let deliveries = try await bench.deliveries(id)
        #expect(deliveries.count == 3 && deliveries.values.allSatisfy { $0.state == .skipped && $0.attempts == 0 })
    }

    @Test func `What was begun is tried again without a device`() async throws {
        let gateway = FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])
        let id = try await bench.stored()
        try await bench.withPipeline(gateway) { bench.broker.deliver(DispatchMessage(id: id)) }
        #expect(try await bench.deliveries(id)[.apple]?.state == .retrying)
        try await registerIPhoneAndBrowser(of: "bob")
        let later = bench.with { ($0.broker, $0.registered) = (FakeBroker(), bench.store) }
        try await later.dispatch([DispatchMessage(id: id, platforms: [.apple], attempt: 1)], gateway)
        #expect(try await bench.deliveries(id)[.apple]?.state == .sent)
    }

    @Test func `Without an answer of the store all are sent`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored()
        try await bench.with { $0.registered = AwayStore() }.dispatch([DispatchMessage(id: id)], gateway)
        #expect(gateway.sent.count == 3)
    }

    @Test func `What has expired is not counted as saved`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored { $0.expiresAt = .now - .seconds(1) }
        try await bench.with { $0.registered = bench.store }.dispatch([DispatchMessage(id: id)], gateway)
        let deliveries = try await bench.deliveries(id)
        #expect(deliveries.count == 3 && deliveries.values.allSatisfy { $0.error == "expired" })
    }
}
