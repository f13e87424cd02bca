import Domain
import StackKit
import TestSupport
import Testing

@testable import Dispatcher

/// A hub that does not answer on one platform, by the order of what completes.
@Suite struct SlowLaneTests {
    static let platforms: [Platform] = [.apple, .fcmv1, .windows]
    let bench = DispatchBench()
    /// Long enough that what is held and comes back leaves the broker empty in between, also with a slow store.
    let delays = RetryDelays([.seconds(1)])

    private func pipeline(_ broker: TimedBroker, _ gateway: any PushGateway, clock: LaneClock = .system)
        -> DispatchPipeline
    {
        bench.with {
            $0.policy = DispatchPolicy(platforms: Self.platforms, maxAttempts: 1, retryDelays: delays)
            $0.lanes = LaneSettings(platforms: Self.platforms, concurrency: 30, prefetch: 40, clock: clock)
        }.pipeline(gateway, over: broker)
    }

    @Test func `A silent lane takes neither the prefetch nor the slots of the others`() async throws {
        let broker = TimedBroker(delays: delays, prefetch: 40)
        let gateway = FunctionGateway { $0.platform == .windows ? nil : .sent(hubMessageID: nil) }
        let ids = try await bench.stored(400)
        broker.deliver(ids.map { DispatchMessage(id: $0) })
        let store = bench.store
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline(broker, gateway).run() }
            // Ten times the prefetch gets through on the other platforms though windows has not answered once.
            let areThrough = try await eventually {
                broker.record.unsettled.count <= 10 && broker.record.ready.isEmpty
            }
            #expect(areThrough)
            #expect(gateway.silent.count == 10)
            gateway.silent.end(.sent(hubMessageID: nil))
            try await expectEventually {
                gateway.silent.end(.sent(hubMessageID: nil))
                return broker.record.unsettled.isEmpty && broker.record.ready.isEmpty
                    && broker.record.delayed.isEmpty
            }
            broker.end()
            try await group.waitForAll()
        }
        #expect(broker.record.dead.isEmpty)
        for id in ids {
            #expect(try await store.status(of: id) == .dispatched)
            #expect(try await bench.deliveries(id).values.map(\.attempts) == [1, 1, 1])
        }
    }

    @Test func `What waits for a slot is held when the dispatcher stops`() async throws {
        let broker = FakeBroker()
        let gateway = FunctionGateway { $0.platform == .windows ? nil : .sent(hubMessageID: nil) }
        for _ in 0..<20 { broker.deliver(DispatchMessage(id: try await bench.stored())) }
        let lanes = LaneSettings(platforms: Self.platforms, concurrency: 30, prefetch: 1000)
        try await bench.with { ($0.broker, $0.lanes) = (broker, lanes) }.withPipeline(gateway) {
            try await expectEventually { gateway.silent.count == 10 }
            broker.drain()
            try await expectEventually { broker.record.acknowledged.count == 10 }
            gateway.silent.end(.sent(hubMessageID: nil))
        }
        #expect(broker.record.acknowledged.count == 20)
        #expect(broker.record.published.map(\.message.platforms) == Array(repeating: [.windows], count: 10))
        #expect(broker.record.published.allSatisfy { $0.route == .retry(delay: 0) })
    }

    @Test func `Lanes that are slow together hold nothing`() async throws {
        let broker = TimedBroker(delays: delays, prefetch: 40)
        let gateway = FunctionGateway { _ in nil }
        let ids = try await bench.stored(40)
        broker.deliver(ids.map { DispatchMessage(id: $0) })
        try await withThrowingTaskGroup(of: Void.self) { group in
            let clock = VirtualClock()
            let pipeline = pipeline(broker, gateway, clock: clock.laneClock)
            group.addTask { try await pipeline.run() }
            try await expectEventually { gateway.silent.count == 30 }
            // All lanes have been full for far longer than a burst takes.
            clock.advance(to: clock.now + .seconds(5))
            for _ in 0..<3 { pipeline.lanes.tick() }
            #expect(gateway.silent.count == 30)
            #expect(broker.record.published == 0)
            broker.end()
            try await expectEventually {
                gateway.silent.end(.sent(hubMessageID: nil))
                let record = broker.record
                return record.unsettled.isEmpty && record.ready.isEmpty && record.delayed.isEmpty
            }
            try await group.waitForAll()
        }
    }

    @Test func `A burst in healthy times waits and is not held`() async throws {
        let broker = TimedBroker(delays: delays, prefetch: 40)
        let gateway = FunctionGateway { $0.platform == .windows ? nil : .sent(hubMessageID: nil) }
        let ids = try await bench.stored(40)
        broker.deliver(ids.map { DispatchMessage(id: $0) })
        broker.end()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // By a clock that stands still: the burst is over before anything has waited long.
            let clock = VirtualClock().laneClock
            group.addTask { try await pipeline(broker, gateway, clock: clock).run() }
            let areAllSent = try await eventually(every: .milliseconds(1)) {
                gateway.silent.end(.sent(hubMessageID: nil))
                return broker.record.unsettled.isEmpty && broker.record.ready.isEmpty
            }
            #expect(areAllSent)
            try await group.waitForAll()
        }
        #expect(broker.record.published == 0)
    }
}
