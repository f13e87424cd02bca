import Domain
import Foundations
import Logging
import TestSupport
import Testing

@testable import Dispatcher

/// A dispatcher over a broker, a hub and a store that a test controls. A test changes what it is about.
struct DispatchBench {
    var broker = FakeBroker()
    var store = memoryStore()
    var policy = DispatchPolicy(
        platforms: [.apple, .fcmv1, .windows], maxAttempts: 2,
        retryDelays: RetryDelays([.seconds(1), .seconds(60)]))
    /// In place of ``broker``.
    var publisher: (any DispatchPublisher)?
    /// In place of ``store``, in the pipeline only.
    var ledger: (any DispatchStore)?
    var registered: (any DispatchStore)?
    var lanes: LaneSettings?
    var hubs: Lanes.Source?
    var signer: PushSigner?
    var browserPage: String?
    var silent: SilentBudget?
    var tracing: ProcessTracing?
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    func with(_ change: (inout DispatchBench) -> Void) -> DispatchBench {
        var bench = self
        change(&bench)
        return bench
    }

    /// - Parameter other: the broker, in place of ``broker``.
    func pipeline(
        _ gateway: any PushGateway, over other: (any DispatchConsumer & DispatchPublisher)? = nil
    ) -> DispatchPipeline {
        DispatchPipeline(
            consumer: other ?? broker, publisher: publisher ?? other ?? broker, store: ledger ?? store,
            gateway: gateway, policy: policy, registered: registered, lanes: lanes, hubs: hubs, signer: signer,
            browserPage: browserPage, silent: silent, tracing: tracing, logger: logger)
    }

    /// Runs a pipeline until `body` has returned and everything is settled.
    func withPipeline(
        _ gateway: any PushGateway, ledger: (any DispatchStore)? = nil, _ body: () async throws -> Void
    ) async throws {
        try await run(with { $0.ledger = ledger ?? self.ledger }.pipeline(gateway), body)
    }

    func run(_ pipeline: DispatchPipeline, _ body: () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline.run() }
            try await body()
            broker.drain()
            try await group.waitForAll()
        }
    }

    /// Delivers messages, and settles them.
    func dispatch(_ messages: [DispatchMessage], _ gateway: any PushGateway, isRedelivered: Bool = false) async throws {
        for message in messages { broker.deliver(message, isRedelivered: isRedelivered) }
        try await withPipeline(gateway) {}
    }

    func stored(_ change: (inout Notification) -> Void = { _ in }) async throws -> NotificationID {
        let alice = try #require(UserName("alice"))
        var notification = Notification(sender: "test", recipient: alice, expiresAt: .now + .seconds(600))
        change(&notification)
        let payload = SealedPayload(keyID: "k", bytes: [1, 2, 3])
        try await store.append([SealedNotification(notification: notification, payload: payload)])
        return notification.id
    }

    func stored(_ count: Int, _ change: (inout Notification) -> Void = { _ in }) async throws -> [NotificationID] {
        var ids: [NotificationID] = []
        for _ in 0..<count { ids.append(try await stored(change)) }
        return ids
    }

    /// The record of a notification, by claiming it once more.
    func deliveries(_ id: NotificationID) async throws -> [Platform: Delivery] {
        let plan = try await store.claim([id], now: .now)[id]
        return Dictionary(uniqueKeysWithValues: (plan?.deliveries ?? []).map { ($0.platform, $0) })
    }
}
