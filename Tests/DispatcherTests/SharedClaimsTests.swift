import Domain
import Foundations
import Logging
import TestSupport
import Testing

@testable import Dispatcher

/// What one dispatcher does about the claims of another, and about its own death.
@Suite struct SharedClaimsTests {
    let broker = FakeBroker()
    let store = memoryStore()
    let policy = DispatchPolicy(platforms: [.apple, .fcmv1], maxAttempts: 5, retryDelays: .standard)

    private func pipeline(_ gateway: FakeGateway, concurrency: Int = 512) -> DispatchPipeline {
        DispatchPipeline(
            consumer: broker, publisher: broker, store: store, gateway: gateway, policy: policy,
            lanes: LaneSettings(platforms: policy.platforms, concurrency: concurrency), logger: Logger(label: "test"))
    }

    private func run(_ pipeline: DispatchPipeline, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline.run() }
            try await body()
            broker.drain()
            try await group.waitForAll()
        }
    }

    private func stored(_ count: Int, platforms: [Platform]? = nil) async throws -> [NotificationID] {
        let alice = try #require(UserName("alice"))
        let notifications = (0..<count).map { _ in
            Notification(sender: "test", recipient: alice, platforms: platforms, expiresAt: .now + .seconds(600))
        }
        try await store.append(
            notifications.map {
                SealedNotification(notification: $0, payload: SealedPayload(keyID: "k", bytes: [1]))
            })
        return notifications.map(\.id)
    }

    /// By a claim more.
    private func deliveries(_ id: NotificationID) async throws -> [Platform: Delivery] {
        let plan = try await store.claim([id], now: .now)[id]
        return Dictionary(uniqueKeysWithValues: (plan?.deliveries ?? []).map { ($0.platform, $0) })
    }

    @Test func whatAnotherHasClaimedSinceIsLeftToIt() async throws {
        let id = try await stored(1)[0]
        let gateway = FakeGateway([.fcmv1: [.unavailable(reason: "503", retryAfter: nil)]], holding: true)
        try await run(pipeline(gateway)) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { gateway.sent.count == 2 }
            _ = try await store.claim([id], now: .now)
            gateway.letGo()
        }
        #expect(broker.record.published.isEmpty)
        #expect(broker.record.acknowledged == [1])
        #expect(try await deliveries(id).isEmpty)
    }

    @Test func anUnrecordedClaimIsPutDownToEveryPlatformThatWasOwed() async throws {
        let id = try await stored(1)[0]
        _ = try await store.claim([id], now: .now)
        try await run(pipeline(FakeGateway())) {
            broker.deliver(DispatchMessage(id: id, platforms: [.fcmv1], attempt: 1))
        }
        let found = try await deliveries(id)
        #expect(found[.fcmv1]?.state == .sent && found[.fcmv1]?.unanswered == 1)
        #expect(found[.apple]?.state == .pending && found[.apple]?.unanswered == 1)
    }

    @Test func noMoreIsClaimedThanKeepsTheLanesBusy() async throws {
        let ids = try await stored(100)
        let gateway = FakeGateway(holding: true)
        let pipeline = pipeline(gateway, concurrency: 8)
        try await run(pipeline) {
            for id in ids { broker.deliver(DispatchMessage(id: id)) }
            try await expectEventually { pipeline.settler.notificationsInFlight > 12 && gateway.sent.count == 8 }
            #expect(pipeline.settler.notificationsInFlight <= 16)
            gateway.letGo()
            try await expectEventually { broker.record.acknowledged.count == 100 }
        }
        #expect(gateway.sent.count == 200)
    }

    @Test func aPlatformThatIsNotServedHereIsSkipped() async throws {
        let id = try await stored(1, platforms: [.windows, .apple])[0]
        let other = try await stored(1, platforms: [.windows])[0]
        try await run(pipeline(FakeGateway())) {
            for id in [id, other] { broker.deliver(DispatchMessage(id: id)) }
        }
        let found = try await deliveries(id)
        #expect(found[.apple]?.state == .sent && found[.windows]?.state == .skipped)
        #expect(try await deliveries(other)[.windows]?.state == .skipped)
        #expect(broker.record.acknowledged.sorted() == [1, 2])
    }
}
