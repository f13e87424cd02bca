import Messaging
import SecurePushCore

/// The dispatch queue's publisher, connected for as long as a command takes.
enum DispatchPublishing {
    static func with<Value: Sendable>(
        _ configuration: MessagingConfiguration,
        _ body: @escaping @Sendable (RabbitMQDispatchPublisher) async throws -> Value
    ) async throws -> Value {
        let publisher = try RabbitMQDispatchPublisher(configuration: configuration, logger: StoreSession.logger)
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask {
                await publisher.run()
                return nil
            }
            group.addTask {
                try await waitUntilConnected(publisher)
                return try await body(publisher)
            }
            defer { group.cancelAll() }
            while let value = try await group.next() { if let value { return value } }
            throw CommandFailure(.unreachable, "The connection to the broker was closed.")
        }
    }

    private static func waitUntilConnected(_ publisher: RabbitMQDispatchPublisher) async throws {
        let end = ContinuousClock.now + .seconds(10)
        while !publisher.isConnected {
            guard ContinuousClock.now < end else {
                throw CommandFailure(
                    .unreachable, "The broker cannot be published to.", hint: "`securepush doctor` tells why.")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
