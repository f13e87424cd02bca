import Domain
import Foundations
import TestSupport
import Testing

@testable import Dispatcher

/// What cannot go on now waits, and does not come back at once: a queue of the broker is gone, or it is too early.
@Suite("What waits in a dispatcher")
struct HeldDeliveryTests {
    let bench = DispatchBench()
    var broker: FakeBroker { bench.broker }
    var store: any Store { bench.store }

    @Test(arguments: [MessagingError.Code.returned, .nacked, .notConnected, .blocked, .full, .timeout, .connectionLost])
    func `A retry that the broker does not take waits its delay in the outbox`(_ code: MessagingError.Code) async throws
    {
        let gateway = FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])
        let id = try await bench.stored()
        broker.refusePublishes(code)
        let before = Timestamp.now
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: id)) }
        #expect(broker.record.acknowledged == [1] && broker.record.requeued.isEmpty)
        #expect(gateway.sent.count == 3)
        // The delay of the first retry is 1 s, less its jitter. A message that may be in its delay queue comes first,
        // and so does a delivery that could not be acknowledged.
        let delay: Duration =
            switch code {
            case .timeout, .blocked: .seconds(6)
            case .notConnected, .connectionLost: .seconds(31)
            default: .seconds(1)
            }
        let due = before + delay
        #expect(try await store.lease(limit: 9, now: due - .milliseconds(10), until: due).isEmpty)
        let leased = try await store.lease(limit: 9, now: .now + delay + .seconds(1), until: due)
        #expect(leased.map(\.id) == [id])
        let plan = try #require(try await store.claim([id], now: .now)[id])
        #expect(plan.deliveries.first { $0.platform == .apple }?.attempts == 1)
        #expect(plan.unrecordedClaims == 0)
    }

    @Test func `Its platforms are tried again by that, and only those`() async throws {
        let gateway = FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])
        let id = try await bench.stored()
        broker.refusePublishes(.returned)
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { broker.record.acknowledged == [1] }
            broker.deliver(DispatchMessage(id: id))
        }
        #expect(gateway.sent.map(\.platform) == [.apple, .fcmv1, .windows, .apple])
        #expect(try await store.status(of: id) == .dispatched)
    }

    @Test
    func `A dead letter that the broker does not take is published again at growing intervals, and then once`()
        async throws
    {
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

    @Test func `A dead letter that is not taken keeps its notification's retry apart`() async throws {
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

    @Test
    func `Dead letters that are not taken keep a quarter of the prefetch; the others are given up`() async throws {
        let refusal = SendOutcome.rejected(reason: "HTTP 400", status: 400)
        let gateway = FakeGateway([.apple: Array(repeating: refusal, count: 5)])
        broker.refusePublishes(.returned)
        let lanes = LaneSettings(platforms: bench.policy.platforms, prefetch: 8)
        try await bench.with { $0.lanes = lanes }.withPipeline(gateway) {
            let ids = try await bench.stored(5) { $0.platforms = [.apple] }
            for id in ids { broker.deliver(DispatchMessage(id: id)) }
            try await expectEventually { broker.record.acknowledged.count == 3 }
            broker.refusePublishes { _ in false }
            try await expectEventually { broker.record.acknowledged.count == 5 }
            for id in ids { #expect(try await store.status(of: id) == .failed) }
        }
        #expect(broker.record.published.count == 2 && broker.record.requeued.isEmpty)
    }

    @Test func `Held dead letters are a problem after a while, and are dropped with their connection`() {
        func letter(_ epoch: UInt64, _ cause: DeadLetterCause) -> HeldDeliveries.Letter {
            let message = DispatchMessage(id: NotificationID())
            return HeldDeliveries.Letter(
                deliveries: [DispatchDelivery(tag: 1, epoch: epoch, message: message)],
                letter: DeadLetterDraft(message: message, reason: "test", cause: cause))
        }
        let held = HeldDeliveries(prefetch: 4)
        let later = ContinuousClock.now + .seconds(60)
        // The database does not say that these are dead, so none is given up.
        #expect(held.hold([letter(1, .record), letter(1, .record)]).isEmpty)
        #expect(held.hold([letter(1, .attempts)]).map(\.letter.cause) == [.attempts])
        #expect(held.problem(at: .now) == nil && held.problem(at: later) != nil)
        held.forgetOlder(than: [DispatchDelivery(tag: 1, epoch: 2, message: nil)])
        #expect(held.problem(at: later) == nil && held.takeLetters(at: later).isEmpty)
        #expect(held.hold([letter(1, .record)]).isEmpty && held.problem(at: later) == nil)
    }

    // MARK: NotBefore

    @Test(arguments: [
        (isFirst: false, isRedelivered: false), (isFirst: true, isRedelivered: false),
        (isFirst: false, isRedelivered: true),
    ])
    func `A message that comes long before NotBefore is dropped, and nothing is sent or recorded`(
        _ mark: (isFirst: Bool, isRedelivered: Bool)
    ) async throws {
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
        #expect(try await store.status(of: id) == .accepted)
        // The outbox publishes it at its time, and its push is still there.
        #expect(try await store.lease(limit: 9, now: notBefore - .milliseconds(1), until: notBefore).isEmpty)
        #expect(try await store.lease(limit: 9, now: notBefore, until: notBefore).map(\.id) == [id])
        let plan = try #require(try await store.claim([id], now: notBefore)[id])
        #expect(plan.attempt == 1 && plan.unrecordedClaims == 0 && plan.deliveries.isEmpty)
    }

    @Test
    func `A message that comes a little early waits for NotBefore: its publisher's clock may be ahead`() async throws {
        let id = try await bench.stored { $0.notBefore = Timestamp.now + .seconds(20) }
        let gateway = FakeGateway()
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: id)) }
        // It was held until the dispatcher stopped.
        #expect(gateway.sent.isEmpty && broker.record.acknowledged.isEmpty && broker.record.requeued == [1])
        let (held, due) = (HeldDeliveries(prefetch: 8), Timestamp.now)
        held.hold(DispatchDelivery(tag: 7, epoch: 1, message: DispatchMessage(id: id)), until: due)
        #expect(held.takeDue(at: due - .milliseconds(1)).isEmpty)
        #expect(held.takeDue(at: due).map(\.tag) == [7])
    }
}
