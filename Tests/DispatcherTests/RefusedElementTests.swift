import Domain
import Foundations
import Logging
import Synchronization
import TestSupport
import Testing

@testable import Dispatcher

/// What the store refuses for good costs nobody else anything.
@Suite("What the store refuses", .timeLimit(.minutes(5)))
struct RefusedElementTests {
    let bench = DispatchBench()
    var broker: FakeBroker { bench.broker }
    var store: any Store { bench.store }

    private func run(
        _ gateway: FakeGateway, _ picky: PickyStore, _ body: () async throws -> Void = {}
    ) async throws {
        try await bench.withPipeline(gateway, ledger: picky, body)
    }

    private func deliver(_ count: Int) async throws -> [NotificationID] {
        let ids = try await bench.stored(count)
        for id in ids { broker.deliver(DispatchMessage(id: id)) }
        return ids
    }

    private var deadLetters: [(id: NotificationID, reason: String)] {
        broker.record.published.compactMap { message, route in
            if case .dead(let reason) = route { (message.id, reason) } else { nil }
        }
    }

    private static let codes: [StorageError.Code] = [.failed, .invalid, .migrationNeeded]

    @Test(arguments: codes, [1, 2, 20])
    func `One outcome that is refused is dead-lettered, and its neighbours are pushed once`(
        _ code: StorageError.Code, _ count: Int
    ) async throws {
        let ids = try await deliver(count)
        let bad = ids[count / 2]
        let gateway = FakeGateway()
        let picky = PickyStore(store) { $0 == .record && $1 == bad ? code : nil }
        try await run(gateway, picky)
        #expect(gateway.sent.count == 3 * count)
        #expect(broker.record.acknowledged.count == count && broker.record.requeued.isEmpty)
        #expect(deadLetters.map(\.id) == [bad])
        #expect(deadLetters.first?.reason == "the outcome cannot be stored: refused by the test")
        for id in ids where id != bad { #expect(try await store.status(of: id) == .dispatched) }
        // The outbox does not publish it again.
        let later = Timestamp.now + .seconds(3600)
        #expect(try await store.leasePublished(limit: 99, due: later, now: later, until: later).entries.isEmpty)
        #expect(try await store.lease(limit: 99, now: later, until: later).isEmpty)
    }

    @Test(arguments: [[0], [19], [0, 1, 2], [3, 9, 18], Array(0..<20)])
    func `Several of a group are refused`(_ positions: [Int]) async throws {
        let ids = try await deliver(20)
        let bad = Set(positions.map { ids[$0] })
        let gateway = FakeGateway()
        try await run(gateway, PickyStore(store) { $0 == .record && bad.contains($1) ? .failed : nil })
        #expect(gateway.sent.count == 60 && broker.record.acknowledged.count == 20)
        #expect(broker.record.requeued.isEmpty && Set(deadLetters.map(\.id)) == bad)
        #expect(deadLetters.count == bad.count)
    }

    @Test(arguments: codes, [1, 20])
    func `One claim that is refused is dead-lettered and not pushed`(_ code: StorageError.Code, _ count: Int)
        async throws
    {
        let ids = try await deliver(count)
        let bad = ids[count - 1]
        let gateway = FakeGateway()
        try await run(gateway, PickyStore(store) { $0 == .claim && $1 == bad ? code : nil })
        #expect(gateway.sent.count == 3 * (count - 1))
        #expect(broker.record.acknowledged.count == count && broker.record.requeued.isEmpty)
        #expect(deadLetters.map(\.id) == [bad])
        let later = Timestamp.now + .seconds(3600)
        #expect(try await store.lease(limit: 99, now: later, until: later).isEmpty)
    }

    @Test(arguments: [2, 20])
    func `An outcome whose row stays locked costs its neighbours nothing`(_ count: Int) async throws {
        var settlements: [Settlement] = []
        for tag in 1...count {
            let id = try await bench.stored()
            let attempt = try #require(try await store.claim([id], now: .now)[id]?.attempt)
            let deliveries = [Delivery(platform: .apple, state: .sent, updatedAt: .now)]
            settlements.append(
                Settlement(
                    delivery: DispatchDelivery(tag: UInt64(tag), epoch: 1, message: DispatchMessage(id: id)),
                    outcome: DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)))
        }
        let bad = try #require(settlements[count / 2].outcome?.id)
        let recorder = DispatchRecorder(
            store: PickyStore(store) { $0 == .record && $1 == bad ? .timeout : nil },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            metrics: DispatchMetrics(platforms: [.apple]))
        let recorded = await recorder.record(settlements) { $0.duration(to: .now) < .seconds(1) }
        #expect(recorded.left.compactMap { $0.outcome?.id } == [bad])
        #expect(recorded.done.count == count - 1 && !recorded.done.contains { $0.dead != nil })
        for id in settlements.compactMap({ $0.outcome?.id }) where id != bad {
            #expect(try await store.status(of: id) == .dispatched)
        }
    }

    @Test func `An outcome that is refused for a moment is stored, also if it is alone`() async throws {
        let id = try await deliver(1)[0]
        let tries = Mutex(0)
        let picky = PickyStore(store) { operation, asked in
            guard operation == .record, asked == id else { return nil }
            let number = tries.withLock { tries in
                tries += 1
                return tries
            }
            return number == 1 ? .failed : nil
        }
        try await run(FakeGateway(), picky)
        #expect(deadLetters.isEmpty && broker.record.acknowledged == [1])
        #expect(try await store.status(of: id) == .dispatched)
    }

    @Test func `A dead letter that no queue takes does not keep its row in the outbox`() async throws {
        let id = try await deliver(1)[0]
        broker.refusePublishes(.returned)
        try await run(FakeGateway(), PickyStore(store) { $0 == .record && $1 == id ? .failed : nil }) {
            try await expectEventually { broker.record.refused > 0 }
            let later = Timestamp.now + .seconds(3600)
            try await expectEventually {
                let due = try await store.leasePublished(limit: 99, due: later, now: later, until: later).entries
                let isWaiting = try await !store.lease(limit: 99, now: later, until: later).isEmpty
                return due.isEmpty && !isWaiting
            }
            #expect(broker.record.acknowledged.isEmpty)
        }
    }

    /// A right that the role lacks: no element is at fault.
    @Test func `If all outcomes are refused, nothing is dead-lettered, and nothing more is pushed`() async throws {
        let gateway = FakeGateway()
        let picky = PickyStore(store) { operation, _ in operation == .record ? .failed : nil }
        let first = try await deliver(1)
        var others: [NotificationID] = []
        try await run(gateway, picky) {
            try await expectEventually { picky.count(.record) > 2 }
            others = try await deliver(5)
            try await expectEventually { broker.record.requeued.count == 5 }
            #expect(gateway.sent.count == 3 && deadLetters.isEmpty)
            picky.takeAll()
            for id in others { broker.deliver(DispatchMessage(id: id), isRedelivered: true) }
            try await expectEventually { gateway.sent.count == 18 }
        }
        #expect(deadLetters.isEmpty && broker.record.acknowledged.count == 6)
        for id in first + others { #expect(try await store.status(of: id) == .dispatched) }
    }

    // MARK: Withdrawals and reminders

    /// Notifications that were pushed and revoked, and the messages that withdraw them.
    private func revoked(_ count: Int) async throws -> [FollowUp] {
        var followUps: [FollowUp] = []
        for _ in 0..<count {
            let id = try await bench.stored()
            let attempt = try #require(try await store.claim([id], now: .now)[id]?.attempt)
            try await store.record([
                DispatchOutcome(
                    id: id, attempt: attempt,
                    deliveries: [Delivery(platform: .apple, state: .sent, attempts: 1, updatedAt: .now)])
            ])
            _ = try await store.revoke(id, sender: "test", now: .now)
            followUps.append(FollowUp(id: id, kind: .withdrawal))
        }
        for followUp in followUps { broker.deliver(DispatchMessage(id: followUp.id, kind: followUp.kind)) }
        return followUps
    }

    /// The notifications whose follow-ups fall due again. They are leased by that.
    private func dueLater() async throws -> Set<NotificationID> {
        Set(try await store.leaseFollowUps(limit: 99, now: .now + .seconds(86_400)).map(\.id))
    }

    @Test(arguments: [PickyStore.Operation.claimFollowUps, .recordFollowUps])
    func `A withdrawal that is refused is dead-lettered and ends; the others are done`(
        _ operation: PickyStore.Operation
    ) async throws {
        let followUps = try await revoked(8)
        let bad = followUps[5]
        let gateway = FakeGateway()
        try await run(gateway, PickyStore(store) { $0 == operation && $1 == bad.id ? .failed : nil })
        #expect(gateway.sent.count == (operation == .claimFollowUps ? 7 : 8))
        #expect(broker.record.acknowledged.count == 8 && broker.record.requeued.isEmpty)
        #expect(deadLetters.map(\.id) == [bad.id])
        #expect(broker.record.published.map(\.message.kind) == [.withdrawal])
        #expect(try await dueLater().isEmpty)
    }

    @Test func `A follow-up whose row cannot be read is dead-lettered and ends, as an unreadable push`() async throws {
        let followUps = try await revoked(3)
        try await store.damage(followUps[1].id)
        let gateway = FakeGateway()
        try await run(gateway, PickyStore(store) { _, _ in nil })
        #expect(gateway.sent.count == 2 && broker.record.acknowledged.count == 3)
        #expect(deadLetters.map(\.id) == [followUps[1].id])
        #expect(deadLetters.first?.reason == "the record cannot be read: A notification's deliveries cannot be read.")
        #expect(try await dueLater().isEmpty)
    }

    @Test func `If follow-ups cannot be stored, the pushes of their group are done all the same`() async throws {
        let followUps = try await revoked(1)
        let gateway = FakeGateway([
            .fcmv1: [.unavailable(reason: "503", retryAfter: nil)]
        ])
        let picky = PickyStore(store) { operation, _ in operation == .recordFollowUps ? .failed : nil }
        let ids = try await deliver(4)
        try await run(gateway, picky)
        #expect(gateway.sent.count == 13 && broker.record.acknowledged.count == 5)
        #expect(broker.record.requeued.isEmpty)
        // The retry of one of them has kept its message.
        #expect(broker.record.published.map(\.route) == [.retry(delay: 0)])
        let dispatched = try await ids.asyncCount { try await store.status(of: $0) == .dispatched }
        #expect(dispatched == 3)
        // It is withdrawn once more when its claim has ended, and not before.
        #expect(try await store.leaseFollowUps(limit: 9, now: .now + .seconds(50)).isEmpty)
        #expect(try await dueLater() == [followUps[0].id])
    }

    @Test func `While outcomes of follow-ups cannot be stored, no further one is sent, and pushes are`() async throws {
        _ = try await revoked(1)
        let gateway = FakeGateway()
        let picky = PickyStore(store) { operation, _ in operation == .recordFollowUps ? .failed : nil }
        try await run(gateway, picky) {
            try await expectEventually { broker.record.acknowledged == [1] }
            let more = try await revoked(3)
            _ = try await deliver(2)
            try await expectEventually { broker.record.acknowledged.count == 6 }
            #expect(gateway.sent.count == 1 + 6 && broker.record.requeued.isEmpty)
            #expect(try await dueLater().isSuperset(of: more.map(\.id)))
        }
    }
}

extension Array where Element: Sendable {
    fileprivate func asyncCount(_ condition: (Element) async throws -> Bool) async throws -> Int {
        var count = 0
        for element in self where try await condition(element) { count += 1 }
        return count
    }
}
