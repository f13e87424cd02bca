import Domain
import StackKit
import TestSupport
import Testing

@testable import Dispatcher

/// Messages that are none of ours, among good ones.
@Suite struct PoisonTests {
    @Test func `A thousand are dead-lettered and no good one is waiting for them`() async throws {
        let bench = DispatchBench()
        let gateway = FakeGateway(holding: true)
        let ids = try await bench.stored(100)
        try await bench.withPipeline(gateway) {
            for number in 0..<1100 {
                bench.broker.deliver(number % 11 == 10 ? DispatchMessage(id: ids[number / 11]) : nil)
            }
            // All poison is deadLettered while not one good one has its answer, and all good ones are at the hub.
            try await expectEventually {
                bench.broker.record.deadLettered.count == 1000 && gateway.sent.count == 300
            }
            #expect(bench.broker.record.acknowledged.count == 1000)
            gateway.letGo()
        }
        #expect(bench.broker.record.deadLettered.count == 1000)
        #expect(bench.broker.record.acknowledged.count == 1100)
        #expect(bench.broker.record.published.isEmpty)
        for id in ids { #expect(try await bench.store.status(of: id) == .dispatched) }
    }

    /// A consumer refuses such a number; the dispatcher must not depend on it.
    @Test func `The number of a retry stays in its range`() async throws {
        let bench = DispatchBench()
        let id = try await bench.stored()
        try await bench.withPipeline(FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])) {
            bench.broker.deliver(DispatchMessage(id: id, platforms: [.apple], attempt: .max))
        }
        #expect(bench.broker.record.published.map(\.message.attempt) == [1000])
    }
}
