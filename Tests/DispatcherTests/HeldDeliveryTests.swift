import Logging
import SecurePushCore
import TestSupport
import Testing

@testable import Dispatcher

/// What cannot go on now waits, and does not come back at once: a queue of the broker is gone, or it is too early.
@Suite("What waits in a dispatcher")
struct HeldDeliveryTests {
    let bench = DispatchPipelineTests()
    var broker: FakeBroker { bench.broker }
    var store: MemoryStore { bench.store }

    @Test(
        "A retry that the broker does not take waits its delay in the outbox",
        arguments: [MessagingError.Code.returned, .nacked, .notConnected, .blocked, .full, .timeout, .connectionLost])
    func retry(_ code: MessagingError.Code) async throws {
        let gateway = FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])
        let id = try await bench.stored()
        broker.refusePublishes(code)
        let before = Timestamp.now
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: id)) }
        #expect(broker.record.acknowledged == [1] && broker.record.requeued.isEmpty)
        #expect(gateway.sent.count == 3)
        // The delay of the first retry is 1 s, less its jitter. A message that may be in its delay queue comes first.
        let isSure = code != .timeout && code != .connectionLost
        let due = before + (isSure ? .seconds(1) : .seconds(6))
        #expect(try await store.lease(limit: 9, now: due - .milliseconds(10), until: due).isEmpty)
        let leased = try await store.lease(limit: 9, now: .now + (isSure ? .seconds(2) : .seconds(7)), until: due)
        #expect(leased.map(\.id) == [id])
        let plan = try #require(try await store.claim([id], now: .now)[id])
        #expect(plan.deliveries.first { $0.platform == .apple }?.attempts == 1)
        #expect(plan.unrecordedClaims == 0)
    }

    @Test("Its platforms are tried again by that, and only those")
    func retryFromOutbox() async throws {
        let gateway = FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])
        let id = try await bench.stored()
        broker.refusePublishes(.returned)
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { broker.record.acknowledged == [1] }
            broker.deliver(DispatchMessage(id: id))
        }
        #expect(gateway.sent.map(\.platform) == [.apple, .fcmv1, .windows, .apple])
        #expect(await store.status(of: id) == .dispatched)
    }

    @Test("A dead letter that the broker does not take is published again at growing intervals, and then once")
    func deadLetter() async throws {
        let gateway = FakeGateway([.apple: [.rejected(reason: "HTTP 400", status: 400)]])
        let id = try await bench.stored()
        broker.refusePublishes(.returned) { if case .dead = $0 { true } else { false } }
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { broker.record.refused == 3 }
            #expect(broker.record.requeued.isEmpty && broker.record.acknowledged.isEmpty)
            // Others are dispatched meanwhile.
            broker.deliver(DispatchMessage(id: try await bench.stored()))
            try await expectEventually { broker.record.acknowledged == [2] }
            broker.refusePublishes { _ in false }
            try await expectEventually { broker.record.acknowledged.contains(1) }
        }
        #expect(broker.record.refused == 3 && broker.record.requeued.isEmpty)
        #expect(broker.record.published.map(\.route) == [.dead(reason: "HTTP 400")])
        #expect(gateway.sent.count == 6)
    }

    @Test("A dead letter that is not taken keeps its notification's retry apart")
    func deadLetterBesideRetry() async throws {
        let gateway = FakeGateway([
            .apple: [.rejected(reason: "HTTP 400", status: 400)],
            .windows: [.unavailable(reason: "503", retryAfter: nil)],
        ])
        let id = try await bench.stored()
        broker.refusePublishes(.returned) { if case .dead = $0 { true } else { false } }
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { !broker.record.published.isEmpty && broker.record.refused > 0 }
            #expect(broker.record.published.map(\.message.platforms) == [[.windows]])
        }
        #expect(gateway.sent.count == 3)
        // When the dispatcher stops, another one takes it over.
        #expect(broker.record.requeued == [1])
    }

    // MARK: NotBefore

    @Test(
        "A message that comes long before NotBefore is dropped, and nothing is sent or recorded",
        arguments: [
            (isFirst: false, isRedelivered: false), (isFirst: true, isRedelivered: false),
            (isFirst: false, isRedelivered: true),
        ])
    func early(_ mark: (isFirst: Bool, isRedelivered: Bool)) async throws {
        let notBefore = Timestamp.now + .seconds(600)
        let id = try await bench.stored {
            $0.notBefore = notBefore
            $0.expiresAt = notBefore + .seconds(600)
        }
        let gateway = FakeGateway()
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id, isFirst: mark.isFirst), isRedelivered: mark.isRedelivered)
            broker.deliver(DispatchMessage(id: id, platforms: [.apple], attempt: 3))
        }
        #expect(gateway.sent.isEmpty && broker.record.published.isEmpty)
        #expect(broker.record.acknowledged.sorted() == [1, 2] && broker.record.requeued.isEmpty)
        #expect(await store.status(of: id) == .accepted)
        // The outbox publishes it at its time, and its push is still there.
        #expect(try await store.lease(limit: 9, now: notBefore - .milliseconds(1), until: notBefore).isEmpty)
        #expect(try await store.lease(limit: 9, now: notBefore, until: notBefore).map(\.id) == [id])
        let plan = try #require(try await store.claim([id], now: notBefore)[id])
        #expect(plan.attempt == 1 && plan.unrecordedClaims == 0 && plan.deliveries.isEmpty)
    }

    @Test("A message that comes a little early waits for NotBefore: its publisher's clock may be ahead")
    func slightlyEarly() async throws {
        let notBefore = Timestamp.now + .seconds(2)
        let id = try await bench.stored { $0.notBefore = notBefore }
        let gateway = FakeGateway()
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { broker.record.requeued == [1] }
            #expect(Timestamp.now >= notBefore && gateway.sent.isEmpty && broker.record.acknowledged.isEmpty)
            broker.deliver(DispatchMessage(id: id), isRedelivered: true)
        }
        #expect(gateway.sent.count == 3 && broker.record.acknowledged == [2])
    }
}
