import Domain
import Logging
import StackKit
import TestSupport
import Testing

@testable import Dispatcher

/// A retry that comes back before the delivery it follows is acknowledged: the process was stopped in between.
@Suite struct EarlyRetryTests {
    /// Delivers what is published at once, and confirms it only when it has been sent.
    private struct EagerPublisher: DispatchPublisher {
        let broker: FakeBroker
        let gateway: FakeGateway

        let isConnected = true

        func publish(
            _ messages: [(message: DispatchMessage, route: DispatchRoute)]
        ) async -> [Result<Void, MessagingError>] {
            let sent = gateway.sent.count
            for (message, _) in messages { broker.deliver(message) }
            _ = try? await eventually(within: .seconds(5)) { gateway.sent.count > sent }
            return messages.map { _ in .success(()) }
        }
    }

    @Test func itIsNotTakenForARepetition() async throws {
        let bench = DispatchPipelineTests()
        let gateway = FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])
        let id = try await bench.stored { $0.platforms = [.apple] }
        let pipeline = DispatchPipeline(
            consumer: bench.broker, publisher: EagerPublisher(broker: bench.broker, gateway: gateway),
            store: bench.store, gateway: gateway, policy: bench.policy, logger: Logger(label: "test"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await pipeline.run() }
            bench.broker.deliver(DispatchMessage(id: id))
            let areBothSettled = try await eventually { bench.broker.record.acknowledged.sorted() == [1, 2] }
            #expect(areBothSettled)
            bench.broker.drain()
            try await group.waitForAll()
        }
        #expect(gateway.sent.count == 2)
        #expect(try await bench.store.status(of: id) == .dispatched)
    }
}
