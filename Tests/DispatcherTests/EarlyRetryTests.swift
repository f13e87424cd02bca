import Domain
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

    @Test func `It is not taken for a repetition`() async throws {
        let gateway = FakeGateway([.apple: [.unavailable(reason: "503", retryAfter: nil)]])
        let broker = FakeBroker()
        let bench = DispatchBench(broker: broker, publisher: EagerPublisher(broker: broker, gateway: gateway))
        let id = try await bench.stored { $0.platforms = [.apple] }
        try await bench.withPipeline(gateway) {
            broker.deliver(DispatchMessage(id: id))
            try await expectEventually { broker.record.acknowledged.sorted() == [1, 2] }
        }
        #expect(gateway.sent.count == 2)
        #expect(try await bench.store.status(of: id) == .dispatched)
    }
}
