import Domain
import Foundations
import StackKit
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// Messages of notifications whose row was stored with the first attempt claimed.
@Suite struct FirstAttemptTests {
    let bench = DispatchBench()
    var store: any Store { bench.store }
    var broker: FakeBroker { bench.broker }

    /// Notes which statements are used.
    private final class NotingLedger: ForwardingStore {
        let base: any Store
        private let noted = Mutex<[String]>([])
        private let open = Mutex<[NotificationID]>([])

        init(_ base: any Store) { self.base = base }

        var calls: [String] { noted.withLock { $0 } }
        /// Those that were entered, in their order.
        var entered: [NotificationID] { open.withLock { $0 } }

        private func note(_ call: String) { noted.withLock { $0.append(call) } }

        func begin(_ ids: [NotificationID], now: Timestamp) async throws -> DispatchClaims {
            note("begin \(ids.count)")
            return try await base.begin(ids, now: now)
        }

        func enter(_ ids: [NotificationID], now: Timestamp) async throws {
            note("enter \(ids.count)")
            open.withLock { $0 += ids }
            try await base.enter(ids, now: now)
        }

        func claim(
            _ ids: [NotificationID], first: Set<NotificationID>, now: Timestamp
        ) async throws -> DispatchClaims {
            note("claim \(ids.count)")
            return try await base.claim(ids, first: first, now: now)
        }
    }

    /// A notification that ingest has stored and published.
    ///
    /// - Parameter age: how long ago; the outbox has its confirm unless it is old.
    private func published(age: Duration = .zero) async throws -> DispatchMessage {
        let alice = try #require(UserName("alice"))
        let notification = Notification(
            sender: "test", recipient: alice, createdAt: .now - age, expiresAt: .now + .seconds(600))
        let payload = SealedPayload(keyID: "k", bytes: [1])
        try await store.append([
            SealedNotification(notification: notification, payload: payload, claimsFirstAttempt: true)
        ])
        // A slow machine must not make it due.
        if age == .zero { try await store.confirm([notification.id], until: .now + .seconds(600)) }
        return DispatchMessage(id: notification.id, isFirst: true)
    }

    /// The next claim of a notification.
    private func next(_ message: DispatchMessage) async throws -> DispatchPlan {
        try #require(try await store.claim([message.id], now: .now)[message.id])
    }

    @Test func `The first message only reads the plan`() async throws {
        let (gateway, ledger) = (FakeGateway(), NotingLedger(store))
        let message = try await published()
        try await bench.withPipeline(gateway, ledger: ledger) { broker.deliver(message) }
        // On a slow machine it is entered, too.
        #expect(ledger.calls.filter { $0 != "enter 1" } == ["begin 1"])
        #expect(gateway.sent.count == 3 && broker.record.acknowledged == [1])
        #expect(try await store.status(of: message.id) == .dispatched)
        let plan = try await next(message)
        #expect(plan.attempt == 2 && plan.unrecordedClaims == 0)
        #expect(plan.deliveries.allSatisfy { $0.state == .sent && $0.attempts == 1 && $0.unanswered == 0 })
    }

    /// A full disk: reads go on, and so do statements that match no row.
    @Test func `Nothing begins with a read while outcomes are not stored`() async throws {
        let gateway = FakeGateway()
        let messages = [try await published(), try await published()]
        let ids = messages.map(\.id)
        let picky = PickyStore(store) { _, id in ids.contains(id) ? .unavailable : nil }
        try await bench.withPipeline(gateway, ledger: picky) {
            broker.deliver(messages[0])
            try await expectEventually { picky.count(.record) > 1 }
            broker.deliver(messages[1])
            try await expectEventually { broker.record.requeued == [2] }
            #expect(gateway.sent.count == 3)
            picky.takeAll()
        }
        #expect(broker.record.acknowledged == [1] && gateway.sent.count == 3)
    }

    @Test func `Its retry is an ordinary message`() async throws {
        let gateway = FakeGateway([.fcmv1: [.unavailable(reason: "503", retryAfter: nil)]])
        let message = try await published()
        try await bench.withPipeline(gateway) { broker.deliver(message) }
        let retry = try #require(broker.record.published.first?.message)
        #expect(!retry.isFirst && retry.attempt == 1 && retry.platforms == [.fcmv1])
    }

    @Test func `A redelivered message is claimed under a new number`() async throws {
        let (gateway, ledger) = (FakeGateway(), NotingLedger(store))
        let message = try await published()
        try await bench.withPipeline(gateway, ledger: ledger) { broker.deliver(message, isRedelivered: true) }
        #expect(ledger.calls == ["claim 1"])
        let plan = try await next(message)
        #expect(plan.attempt == 3 && plan.deliveries.allSatisfy { $0.state == .sent && $0.unanswered == 1 })
    }

    @Test func `A message without the mark is claimed under a new number`() async throws {
        let ledger = NotingLedger(store)
        let message = try await published()
        try await bench.withPipeline(FakeGateway(), ledger: ledger) { broker.deliver(DispatchMessage(id: message.id)) }
        #expect(ledger.calls == ["claim 1"])
        #expect(try await next(message).attempt == 3)
    }

    @Test func `What a copy has settled is not sent again`() async throws {
        let (gateway, ledger) = (FakeGateway(), NotingLedger(store))
        let message = try await published()
        let copy = try await next(message)
        let sent = bench.policy.platforms.map { Delivery(platform: $0, state: .sent, attempts: 1, updatedAt: .now) }
        try await store.record([DispatchOutcome(id: message.id, attempt: copy.attempt, deliveries: sent)])
        try await bench.withPipeline(gateway, ledger: ledger) { broker.deliver(message) }
        #expect(ledger.calls == ["begin 1", "claim 1"])
        #expect(gateway.sent.isEmpty && broker.record.acknowledged == [1])
    }

    @Test func `A copy that is claimed meanwhile owns what follows`() async throws {
        let gateway = FakeGateway([.fcmv1: [.unavailable(reason: "503", retryAfter: nil)]], holding: true)
        let message = try await published()
        try await bench.withPipeline(gateway) {
            broker.deliver(message)
            try await expectEventually { gateway.sent.count == 3 }
            #expect(try await next(message).unrecordedClaims == 1)
            gateway.letGo()
        }
        #expect(broker.record.published.isEmpty && broker.record.acknowledged == [1])
        #expect(try await next(message).deliveries.isEmpty)
    }

    @Test func `A copy in the same process is kept with it`() async throws {
        let (gateway, ledger) = (FakeGateway(holding: true), NotingLedger(store))
        let message = try await published()
        try await bench.withPipeline(gateway, ledger: ledger) {
            broker.deliver(message)
            try await expectEventually { gateway.sent.count == 3 }
            broker.deliver(DispatchMessage(id: message.id))
            broker.deliver(message, isRedelivered: true)
            gateway.letGo()
            try await expectEventually { broker.record.acknowledged.count == 3 }
        }
        // Copies that arrive after the settlement are claimed, and find nothing owed.
        #expect(gateway.sent.count == 3 && ledger.calls.first == "begin 1")
        #expect(try await next(message).deliveries.allSatisfy { $0.state == .sent && $0.unanswered == 0 })
    }

    @Test func `A notification that is gone is dropped`() async throws {
        let ledger = NotingLedger(store)
        try await bench.withPipeline(FakeGateway(), ledger: ledger) {
            broker.deliver(DispatchMessage(id: NotificationID(), isFirst: true))
        }
        #expect(ledger.calls == ["begin 1", "claim 1"] && broker.record.acknowledged == [1])
    }

    @Test func `A revoked one is skipped`() async throws {
        let gateway = FakeGateway()
        let message = try await published()
        _ = try await store.revoke(message.id, sender: "test", now: .now)
        try await bench.withPipeline(gateway) { broker.deliver(message) }
        #expect(gateway.sent.isEmpty && broker.record.acknowledged == [1])
        let plan = try await next(message)
        #expect(plan.deliveries.allSatisfy { $0.state == .skipped && $0.unanswered == 0 })
    }

    @Test func `Shortly before its entry is due it is claimed and keeps its number`() async throws {
        let ledger = NotingLedger(store)
        let message = try await published(age: OutboxPolicy.grace)
        try await bench.withPipeline(FakeGateway(), ledger: ledger) { broker.deliver(message) }
        #expect(ledger.calls == ["begin 1", "claim 1"])
        let plan = try await next(message)
        #expect(plan.attempt == 2 && plan.deliveries.allSatisfy { $0.state == .sent && $0.unanswered == 0 })
    }

    @Test func `First and other messages of a group are all sent`() async throws {
        let gateway = FakeGateway()
        let first = [try await published(), try await published()]
        let other = DispatchMessage(id: try await bench.stored())
        for message in first + [other] { broker.deliver(message) }
        try await bench.withPipeline(gateway) {}
        #expect(gateway.sent.count == 9 && broker.record.acknowledged.sorted() == [1, 2, 3])
    }

    @Test func `A long attempt is entered once`() async throws {
        let (gateway, ledger) = (FakeGateway(holding: true), NotingLedger(store))
        let (message, short) = (try await published(), try await published())
        try await bench.withPipeline(gateway, ledger: ledger) {
            broker.deliver(message)
            try await expectEventually { ledger.calls.contains("enter 1") }
            #expect(try await store.status(of: message.id) == .queued)
            gateway.letGo()
            try await expectEventually { broker.record.acknowledged == [1] }
            broker.deliver(short)
        }
        #expect(ledger.entered.count { $0 == message.id } == 1)
        #expect(try await next(message).unrecordedClaims == 0)
    }

    @Test func `While the store is away it is asked again`() async throws {
        let gateway = FakeGateway()
        let message = try await published()
        try await bench.withPipeline(gateway, ledger: FlakyLedger(base: store, failures: .init(claims: 1))) {
            broker.deliver(message)
        }
        #expect(gateway.sent.count == 3 && broker.record.acknowledged == [1])
        #expect(try await next(message).attempt == 2)
    }

    @Test func `An unreadable row is dead-lettered`() async throws {
        let message = try await published()
        try await store.damage(message.id)
        try await bench.withPipeline(FakeGateway()) { broker.deliver(message) }
        #expect(broker.record.acknowledged == [1])
        guard case .dead = broker.record.published.first?.route else {
            Issue.record("no dead letter")
            return
        }
    }
}
