import Domain
import Foundations
import Logging
import TestSupport
import Testing

@testable import Dispatcher

/// `SILENT_PUSH_MIN_INTERVAL` in a dispatcher's pipeline.
@Suite struct SilentPushBudgetTests {
    let bench = DispatchBench(policy: DispatchPolicy(platforms: [.apple], maxAttempts: 3))
    var store: any Store { bench.store }
    private static let interval = Duration.seconds(600)

    private var budget: SilentBudget {
        SilentBudget(store: store, interval: Self.interval, logger: Logger(label: "test"))
    }

    private func stored(
        for name: String = "alice", _ presentation: Presentation = .silent
    ) async throws -> NotificationID {
        let user = try #require(UserName(name))
        return try await bench.stored {
            ($0.recipient, $0.presentation, $0.expiresAt) = (user, presentation, .now + .seconds(86_400))
        }
    }

    /// One dispatcher takes these IDs together.
    @discardableResult
    private func dispatch(_ ids: [NotificationID], _ gateway: FakeGateway) async throws -> FakeBroker {
        let broker = FakeBroker()
        try await bench.with { ($0.broker, $0.silent) = (broker, budget) }
            .dispatch(ids.map { DispatchMessage(id: $0) }, gateway)
        #expect(broker.record.acknowledged.count == ids.count && broker.record.requeued.isEmpty)
        return broker
    }

    private func delivery(_ id: NotificationID) async throws -> Delivery {
        try #require(try await store.records([id])[id]?.deliveries.first)
    }

    @Test func `The first is sent and the next waits for its slot`() async throws {
        let gateway = FakeGateway()
        let (first, second) = (try await stored(), try await stored())
        try await dispatch([first], gateway)
        let broker = try await dispatch([second], gateway)
        #expect(gateway.sent.count == 1 && broker.record.published.isEmpty)
        let waiting = try await delivery(second)
        #expect(waiting.state == .pending && waiting.attempts == 0 && waiting.silentSequence == 1)
        #expect(waiting.error == SilentWait.reason)
        let slot = Timestamp.now + Self.interval
        let early = try await store.lease(limit: 9, now: slot - .seconds(60), until: slot)
        #expect(early.isEmpty)
        let leased = try await store.lease(limit: 9, now: slot, until: slot)
        #expect(leased.map(\.id) == [second])
    }

    @Test func `Those that are claimed together share the push of the newest`() async throws {
        let gateway = FakeGateway()
        var ids: [NotificationID] = []
        for _ in 0..<4 { ids.append(try await stored()) }
        try await dispatch([ids[2], ids[0], ids[3], ids[1]], gateway)
        #expect(gateway.sent.count == 1 && gateway.sent[0].body.contains(ids[3].description))
        #expect(try await delivery(ids[3]).coalescedInto == nil)
        for id in ids.dropLast() {
            let shared = try await delivery(id)
            #expect(shared.state == .sent && shared.coalescedInto == ids[3] && shared.attempts == 0)
            #expect(try await store.status(of: id) == .dispatched)
        }
    }

    @Test func `Recipients do not wait for each other`() async throws {
        let gateway = FakeGateway()
        let ids = [try await stored(), try await stored(for: "bob"), try await stored(for: "Alice")]
        try await dispatch(ids, gateway)
        #expect(gateway.sent.count == 3)
    }

    @Test func `Alerts are neither delayed nor counted`() async throws {
        let gateway = FakeGateway()
        let alerts = [try await stored(for: "alice", .alert), try await stored(for: "alice", .alert)]
        try await dispatch(alerts, gateway)
        #expect(gateway.sent.count == 2)
        try await dispatch([try await stored()], gateway)
        #expect(gateway.sent.count == 3)
        try await dispatch([try await stored(for: "alice", .alert)], gateway)
        #expect(gateway.sent.count == 4)
    }

    @Test func `A push that the hub did not accept delays nobody`() async throws {
        let gateway = FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])
        let (first, second) = (try await stored(), try await stored())
        let broker = try await dispatch([first, second], gateway)
        // The newest was tried and is retried; the other one was not tried.
        #expect(broker.record.published.map(\.message.id) == [second])
        #expect(try await delivery(second).attempts == 1)
        let waiting = try await delivery(first)
        #expect(waiting.state == .pending && waiting.attempts == 0 && waiting.coalescedInto == nil)
        try await dispatch([second], gateway)
        #expect(try await delivery(second).state == .sent)
        try await dispatch([first], gateway)
        #expect(try await delivery(first).coalescedInto == second)
        #expect(gateway.sent.count == 2)
    }

    /// The device may have been woken.
    @Test(arguments: [
        (SendOutcome.unanswered(reason: "timeout"), 1),
        (.unavailable(reason: "504", retryAfter: nil, isAmbiguous: true), 0),
    ])
    func `A push that the hub may have accepted counts`(_ answer: SendOutcome, _ unanswered: Int) async throws {
        let gateway = FakeGateway([.apple: [answer]])
        let id = try await stored()
        try await dispatch([id], gateway)
        try await dispatch([id], gateway)
        #expect(gateway.sent.count == 1)
        let waiting = try await delivery(id)
        #expect(waiting.state == .retrying && waiting.attempts == 1 && waiting.unanswered == unanswered)
    }

    @Test func `While the lane holds no push is used up`() async throws {
        let throttled = SendOutcome.throttled(retryAfter: .seconds(1))
        let gateway = FakeGateway([.apple: [throttled]])
        let (first, second) = (try await stored(), try await stored())
        let broker = try await dispatch([first, second], gateway)
        // Both come back through a delay queue, without an attempt.
        #expect(Set(broker.record.published.map(\.message.id)) == [first, second])
        try await dispatch([first, second], gateway)
        #expect(gateway.sent.count == 2)
        #expect(try await delivery(first).coalescedInto == second)
    }

    @Test func `A revoked notification is skipped and the others go on`() async throws {
        let gateway = FakeGateway()
        let (first, second) = (try await stored(), try await stored())
        _ = try await store.revoke(second, sender: "test", now: .now)
        try await dispatch([first, second], gateway)
        #expect(gateway.sent.map { $0.body.contains(first.description) } == [true])
        #expect(try await delivery(second).state == .skipped)
    }
}
