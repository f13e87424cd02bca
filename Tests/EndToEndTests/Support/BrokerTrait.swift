import StackKit
import TestSupport
import Testing

/// Starts a RabbitMQ node for a whole suite: the contract's queue names are the same for every stack, so that stacks
/// cannot share a node at the same time. A suite with it is serialized.
struct BrokerTrait: SuiteTrait, TestScoping {
    @TaskLocal static var server: RabbitMQServer?

    @concurrent func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        try await withRabbitMQServer { server in
            try await BrokerTrait.$server.withValue(server) { try await function() }
        }
    }
}

extension Trait where Self == BrokerTrait {
    /// A broker of the suite's own.
    static var broker: Self { BrokerTrait() }
}
