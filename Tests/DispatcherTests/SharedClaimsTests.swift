import Domain
import Foundations
import TestSupport
import Testing

@testable import Dispatcher

/// What one dispatcher does about the claims of another, and about its own death.
@Suite struct SharedClaimsTests {
    let bench = DispatchBench(policy: DispatchPolicy(platforms: [.apple, .fcmv1], maxAttempts: 5))
    var broker: FakeBroker { bench.broker }
    var store: any Store { bench.store }

    @Test func `What another has claimed since is left to it`() async throws {
        let id = try await bench.stored()
        let gateway = FakeGateway([.fcmv1: [.unavailable(reason: "503", retryAfter: nil)]], holding: true)
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { gateway.sent.count == 2 }
            _ = try await store.claim([id], now: .now)
            gateway.letGo()
        }
        #expect(broker.record.published.isEmpty)
        #expect(broker.record.acknowledged == [1])
        #expect(try await bench.deliveries(id).isEmpty)
    }

    @Test func `An unrecorded claim is put down to every platform that was owed`() async throws {
        let id = try await bench.stored()
        _ = try await store.claim([id], now: .now)
        try await bench.withPipeline(FakeGateway()) {
            broker.deliver(DispatchMessage(id: id, platforms: [.fcmv1], attempt: 1))
        }
        let found = try await bench.deliveries(id)
        #expect(found[.fcmv1]?.state == .sent && found[.fcmv1]?.unanswered == 1)
        #expect(found[.apple]?.state == .pending && found[.apple]?.unanswered == 1)
    }

    @Test func `No more is claimed than keeps the lanes busy`() async throws {
        let ids = try await bench.stored(100)
        let gateway = FakeGateway(holding: true)
        let lanes = LaneSettings(platforms: bench.policy.platforms, concurrency: 8)
        let pipeline = bench.with { $0.lanes = lanes }.pipeline(gateway)
        try await bench.run(pipeline) {
            for id in ids { broker.deliver(DispatchMessage(id: id)) }
            try await expectEventually { pipeline.settler.notificationsInFlight > 12 && gateway.sent.count == 8 }
            #expect(pipeline.settler.notificationsInFlight <= 16)
            gateway.letGo()
            try await expectEventually { broker.record.acknowledged.count == 100 }
        }
        #expect(gateway.sent.count == 200)
    }

    @Test func `A platform that is not served here is skipped`() async throws {
        let id = try await bench.stored { $0.platforms = [.windows, .apple] }
        let other = try await bench.stored { $0.platforms = [.windows] }
        try await bench.withPipeline(FakeGateway()) {
            for id in [id, other] { broker.deliver(DispatchMessage(id: id)) }
        }
        let found = try await bench.deliveries(id)
        #expect(found[.apple]?.state == .sent && found[.windows]?.state == .skipped)
        #expect(try await bench.deliveries(other)[.windows]?.state == .skipped)
        #expect(broker.record.acknowledged.sorted() == [1, 2])
    }
}
