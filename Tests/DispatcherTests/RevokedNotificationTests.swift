import Domain
import Foundations
import TestSupport
import Testing

@testable import Dispatcher

/// A revocation takes the ID out of the outbox, but not out of a relay's memory nor out of the broker.
@Suite("A revoked notification whose ID is on its way")
struct RevokedNotificationTests {
    let bench = DispatchBench(policy: DispatchPolicy(platforms: [.apple, .windows]))
    var broker: FakeBroker { bench.broker }
    var store: any Store { bench.store }
    let gateway = FakeGateway()

    @Test func `Is acknowledged and not sent`() async throws {
        let id = try await bench.stored { $0.sender = "clinic" }
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        try await bench.dispatch([DispatchMessage(id: id)], gateway)
        #expect(gateway.sent.isEmpty)
        #expect(broker.record.acknowledged == [1])
        #expect(broker.record.published.isEmpty)
        let record = try #require(try await store.record(id, sender: "clinic"))
        #expect(record.status(at: .now) == .revoked)
        #expect(record.deliveries.map(\.state) == [.skipped, .skipped])
    }

    @Test func `Is not tried again where it waits for a retry`() async throws {
        let id = try await bench.stored { $0.sender = "clinic" }
        let attempt = try #require(try await store.claim([id], now: .now)[id]?.attempt)
        let deliveries = [
            Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: .now),
            Delivery(platform: .windows, state: .retrying, attempts: 1, error: "503", updatedAt: .now),
        ]
        try await store.record([DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)])
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        try await bench.dispatch([DispatchMessage(id: id, platforms: [.windows], attempt: 1)], gateway)
        #expect(gateway.sent.isEmpty)
        #expect(broker.record.acknowledged == [1])
        let record = try #require(try await store.record(id, sender: "clinic"))
        #expect(record.deliveries.map(\.state) == [.sent, .skipped])
    }
}
