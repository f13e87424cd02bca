import Domain
import Foundations
import StackKit
import TestSupport
import Testing

@testable import Dispatcher

@Suite struct DispatchPipelineTests {
    let bench = DispatchBench()
    var broker: FakeBroker { bench.broker }
    var store: any Store { bench.store }

    @Test func `One send a platform, then the acknowledgement`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored()
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: id)) }
        #expect(gateway.sent.map(\.platform) == [.apple, .fcmv1, .windows])
        #expect(gateway.sent.allSatisfy { $0.tag == "username:alice" && $0.body.contains(id.description) })
        #expect(broker.record.acknowledged == [1])
        #expect(try await bench.deliveries(id).values.allSatisfy { $0.state == .sent && $0.attempts == 1 })
    }

    @Test func `Only what failed is tried again`() async throws {
        let gateway = FakeGateway([.fcmv1: [.unavailable(reason: "503", retryAfter: nil)]])
        let id = try await bench.stored()
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: id, traceparent: "t")) }
        let published = try #require(broker.record.published.first)
        #expect(published.message == DispatchMessage(id: id, platforms: [.fcmv1], attempt: 1, traceparent: "t"))
        #expect(published.route == .retry(delay: 0))
        #expect(broker.record.acknowledged == [1])
        #expect(try await bench.deliveries(id)[.fcmv1]?.state == .retrying)
    }

    @Test func `The retry sends only what is owed`() async throws {
        let first = FakeGateway([.fcmv1: [.unavailable(reason: "503", retryAfter: nil)]])
        let id = try await bench.stored()
        try await bench.withPipeline(first) { broker.deliver(DispatchMessage(id: id)) }
        let retry = try #require(broker.record.published.first?.message)
        let second = FakeGateway()
        let later = bench.with { $0.broker = FakeBroker() }
        // A repeated delivery of the first message must send nothing more either.
        try await later.dispatch([retry, DispatchMessage(id: id)], second)
        #expect(second.sent.map(\.platform) == [.fcmv1])
        #expect(later.broker.record.acknowledged.sorted() == [1, 2])
    }

    @Test func `Out of attempts goes to the dead letters`() async throws {
        let failure = SendOutcome.unavailable(reason: "503", retryAfter: nil)
        let gateway = FakeGateway([.apple: [failure, failure]])
        let id = try await bench.stored { $0.platforms = [.apple] }
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { broker.record.acknowledged == [1] }
            broker.deliver(DispatchMessage(id: id, platforms: [.apple], attempt: 1))
        }
        #expect(broker.record.published.map(\.route) == [.retry(delay: 0), .dead(reason: "out of attempts: 503")])
        #expect(try await bench.deliveries(id)[.apple]?.state == .dead)
    }

    @Test func `A refusal is stored and goes to the dead letters`() async throws {
        let reason = "HTTP 413: Too big"
        let gateway = FakeGateway([.windows: [.rejected(reason: reason, status: 413)]])
        let id = try await bench.stored()
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: id, traceparent: "t")) }
        let published = broker.record.published
        #expect(published.map(\.route) == [.dead(reason: reason)])
        // The letter names the platform, so that it can be sent again.
        #expect(published.map(\.message) == [DispatchMessage(id: id, platforms: [.windows], traceparent: "t")])
        #expect(broker.record.acknowledged == [1])
        #expect(try await bench.deliveries(id)[.windows]?.error == reason)
        #expect(try await store.reopen([id: [.windows]], now: .now) == [id: .owed([.windows])])
    }

    @Test func `One dead letter names all platforms that are given up`() async throws {
        let gateway = FakeGateway([
            .apple: [.rejected(reason: "HTTP 400", status: 400)],
            .windows: [.unavailable(reason: "HTTP 503", retryAfter: nil)],
        ])
        let id = try await bench.stored()
        try await bench.with { $0.policy.maxAttempts = 1 }.dispatch([DispatchMessage(id: id)], gateway)
        #expect(broker.record.published.map(\.route) == [.dead(reason: "HTTP 400; out of attempts: HTTP 503")])
        #expect(broker.record.published.map(\.message.platforms) == [[.apple, .windows]])
    }

    /// The outcome is on record, the letter may not be in the queue: the broker went away in between.
    @Test func `A letter that was not confirmed is published again`() async throws {
        let id = try await bench.stored { $0.platforms = [.apple] }
        let refusing = FakeGateway([.apple: [.rejected(reason: "HTTP 400", status: 400)]])
        broker.refusePublishes()
        try await bench.withPipeline(refusing) { broker.deliver(DispatchMessage(id: id)) }
        #expect(broker.record.requeued == [1])
        let (later, gateway) = (bench.with { $0.broker = FakeBroker() }, FakeGateway())
        try await later.dispatch([DispatchMessage(id: id)], gateway, isRedelivered: true)
        #expect(gateway.sent.isEmpty)
        #expect(later.broker.record.published.map(\.route) == [.dead(reason: "HTTP 400")])
        #expect(later.broker.record.published.map(\.message.platforms) == [[.apple]])
        #expect(later.broker.record.acknowledged == [1])
    }

    /// A row that a newer version wrote, or a hand.
    @Test func `A row that cannot be read is dead-lettered and holds up no other`() async throws {
        let gateway = FakeGateway()
        let ids = try await bench.stored(5)
        try await store.damage(ids[2])
        for id in ids { broker.deliver(DispatchMessage(id: id, traceparent: "t")) }
        try await bench.withPipeline(gateway) {}
        #expect(gateway.sent.count == 12)
        #expect(broker.record.acknowledged.sorted() == [1, 2, 3, 4, 5])
        let letter = try #require(broker.record.published.first)
        #expect(broker.record.published.count == 1)
        #expect(letter.message == DispatchMessage(id: ids[2], traceparent: "t"))
        #expect(letter.route == .dead(reason: "the record cannot be read: A notification's deliveries cannot be read."))
        for id in ids where id != ids[2] {
            let plan = try #require(try await store.claim([id], now: .now)[id])
            // One claim by the pipeline, and this one; none of them without an outcome.
            #expect(plan.attempt == 2 && plan.unrecordedClaims == 0)
            #expect(plan.deliveries.allSatisfy { $0.state == .sent && $0.unanswered == 0 })
        }
        // The outbox does not publish it again.
        let later = Timestamp.now + .seconds(3600)
        #expect(try await store.lease(limit: 10, now: later, until: later).isEmpty)
    }

    /// No row is at fault then.
    @Test func `If the store refuses all claims they are not repeated`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored()
        let failures = FlakyLedger.Failures(claims: 100, claimCode: .failed)
        try await bench.withPipeline(gateway, ledger: FlakyLedger(base: store, failures: failures)) {
            broker.deliver(DispatchMessage(id: id))
        }
        // The claim, and the one of nothing that tells whether the row is at fault.
        #expect(failures.claimsLeft == 98)
        #expect(gateway.sent.isEmpty && broker.record.published.isEmpty)
        #expect(broker.record.requeued == [1])
    }

    @Test func `Retry-After chooses the delay`() async throws {
        let gateway = FakeGateway([.apple: [.throttled(retryAfter: .seconds(30))]])
        let id = try await bench.stored { $0.platforms = [.apple] }
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: id)) }
        #expect(broker.record.published.map(\.route) == [.retry(delay: 1)])
    }

    @Test func `An unknown ID is acknowledged`() async throws {
        let gateway = FakeGateway()
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: NotificationID())) }
        #expect(broker.record.acknowledged == [1])
        #expect(gateway.sent.isEmpty)
    }

    @Test func `Poison is dead-lettered at once`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored()
        try await bench.withPipeline(gateway) {
            broker.deliver(nil)
            broker.deliver(DispatchMessage(id: id))
        }
        #expect(broker.record.deadLettered == [1])
        #expect(broker.record.acknowledged.sorted() == [1, 2])
        #expect(gateway.sent.count == 3)
    }

    @Test func `What has expired is skipped`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored { $0.expiresAt = .now - .seconds(1) }
        try await bench.withPipeline(gateway) { broker.deliver(DispatchMessage(id: id)) }
        #expect(gateway.sent.isEmpty)
        #expect(try await bench.deliveries(id).values.map(\.state) == [.skipped, .skipped, .skipped])
    }

    @Test func `Without the store nothing is sent`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored()
        let ledger = FlakyLedger(base: store, failures: .init(claims: 100))
        try await bench.withPipeline(gateway, ledger: ledger) { broker.deliver(DispatchMessage(id: id)) }
        #expect(gateway.sent.isEmpty)
        #expect(broker.record.requeued == [1])
    }

    @Test func `Claiming is tried again`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored()
        let ledger = FlakyLedger(base: store, failures: .init(claims: 1))
        try await bench.withPipeline(gateway, ledger: ledger) { broker.deliver(DispatchMessage(id: id)) }
        #expect(gateway.sent.count == 3)
        #expect(broker.record.acknowledged == [1])
    }

    @Test func `A repeated delivery shares the fate`() async throws {
        let gateway = FakeGateway([.apple: [.rejected(reason: "HTTP 400", status: 400)]])
        let id = try await bench.stored()
        broker.refusePublishes()
        for _ in 0..<2 { broker.deliver(DispatchMessage(id: id)) }
        try await bench.withPipeline(gateway) {}
        #expect(broker.record.acknowledged.isEmpty)
        #expect(broker.record.requeued.sorted() == [1, 2])
    }

    @Test func `Storing outcomes is tried again`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored()
        let ledger = FlakyLedger(base: store, failures: .init(records: 2))
        try await bench.withPipeline(gateway, ledger: ledger) { broker.deliver(DispatchMessage(id: id)) }
        #expect(gateway.sent.count == 3)
        #expect(broker.record.acknowledged == [1])
    }

    @Test func `A repeated delivery is sent once`() async throws {
        let gateway = FakeGateway()
        let id = try await bench.stored()
        for _ in 0..<3 { broker.deliver(DispatchMessage(id: id)) }
        try await bench.withPipeline(gateway) {}
        #expect(gateway.sent.count == 3)
        #expect(broker.record.acknowledged.sorted() == [1, 2, 3])
        #expect(try await bench.deliveries(id).values.filter { $0.state == .sent }.count == 3)
    }

    @Test func `An attempt in flight is not fenced off`() async throws {
        let gateway = FakeGateway(holding: true)
        let id = try await bench.stored()
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { gateway.sent.count == 3 }
            let other = try await bench.stored()
            broker.deliver(DispatchMessage(id: id))
            broker.deliver(DispatchMessage(id: other))
            // The other one's sends show that the repeated delivery has been looked at.
            try await expectEventually { gateway.sent.count == 6 }
            gateway.letGo()
        }
        #expect(gateway.sent.count == 6)
        #expect(broker.record.acknowledged.sorted() == [1, 2, 3])
        #expect(try await bench.deliveries(id).values.filter { $0.state == .sent }.count == 3)
    }

    @Test func `A thousand are settled once each`() async throws {
        let gateway = FakeGateway()
        let ids = try await bench.stored(1000)
        try await bench.withPipeline(gateway) {
            for id in ids { broker.deliver(DispatchMessage(id: id)) }
        }
        #expect(Set(broker.record.acknowledged).count == 1000)
        #expect(broker.record.acknowledged.count == 1000)
        #expect(gateway.sent.count == 3000)
    }
}
