import Domain
import Foundations
import Logging
import TestSupport
import Testing

@testable import Dispatcher

/// A revocation takes the ID out of the outbox, but not out of a relay's memory nor out of the broker.
@Suite("A revoked notification whose ID is on its way")
struct RevokedNotificationTests {
    let broker = FakeBroker()
    let store = memoryStore()
    let gateway = FakeGateway()

    @Test func isAcknowledgedAndNotSent() async throws {
        let id = try await stored()
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        try await dispatch(DispatchMessage(id: id))
        #expect(gateway.sent.isEmpty)
        #expect(broker.record.acknowledged == [1])
        #expect(broker.record.published.isEmpty)
        let record = try #require(try await store.record(id, sender: "clinic"))
        #expect(record.status(at: .now) == .revoked)
        #expect(record.deliveries.map(\.state) == [.skipped, .skipped])
    }

    @Test func isNotTriedAgainWhereItWaitsForARetry() async throws {
        let id = try await stored()
        let attempt = try #require(try await store.claim([id], now: .now)[id]?.attempt)
        let deliveries = [
            Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: .now),
            Delivery(platform: .windows, state: .retrying, attempts: 1, error: "503", updatedAt: .now),
        ]
        try await store.record([DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)])
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        try await dispatch(DispatchMessage(id: id, platforms: [.windows], attempt: 1))
        #expect(gateway.sent.isEmpty)
        #expect(broker.record.acknowledged == [1])
        let record = try #require(try await store.record(id, sender: "clinic"))
        #expect(record.deliveries.map(\.state) == [.sent, .skipped])
    }

    private func stored() async throws -> NotificationID {
        let alice = try #require(UserName("alice"))
        let notification = Notification(sender: "clinic", recipient: alice, expiresAt: .now + .seconds(600))
        try await store.append([
            SealedNotification(notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
        ])
        return notification.id
    }

    /// Delivers a message and lets the pipeline settle it.
    private func dispatch(_ message: DispatchMessage) async throws {
        let pipeline = DispatchPipeline(
            consumer: broker, publisher: broker, store: store, gateway: gateway,
            policy: DispatchPolicy(platforms: [.apple, .windows]), logger: Logger(label: "test"))
        broker.deliver(message)
        broker.drain()
        try await pipeline.run()
    }
}
