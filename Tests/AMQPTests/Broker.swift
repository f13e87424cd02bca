import AMQP
import Foundation
import Logging
import ServiceLifecycle
import StackKit
import TestSupport
import Testing

let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

/// The test broker's settings.
func brokerConfiguration(_ url: String? = nil) throws -> AMQPConfiguration {
    try AMQPConfiguration(url: url ?? TestEnvironment.amqpURL, connectionName: "tests")
}

/// The test broker's port.
func brokerPort() throws -> Int {
    try #require(URLComponents(string: try TestEnvironment.amqpURL)?.port)
}

/// Runs a service while `body` does, and waits for its end.
func running<Value: Sendable>(
    _ service: any Service, while body: () async throws -> Value
) async throws -> Value {
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await service.run() }
        let value = try await body()
        group.cancelAll()
        return value
    }
}

/// A queue of the test's own, deleted afterwards.
func withQueue<Value: Sendable>(
    arguments: AMQPTable = ["x-queue-type": "quorum"],
    _ body: (String, AMQPTopology) async throws -> Value
) async throws -> Value {
    let name = "test.\(UUID().uuidString)"
    let topology = AMQPTopology(queues: [.init(name, arguments: arguments)])
    let configuration = try brokerConfiguration()
    do {
        let value = try await body(name, topology)
        try await AMQPConnection.with(configuration) { try await $0.delete(queue: name) }
        return value
    } catch {
        try? await AMQPConnection.with(configuration) { try await $0.delete(queue: name) }
        throw error
    }
}

/// A connected publisher.
func withPublisher<Value: Sendable>(
    _ configuration: AMQPConfiguration, _ topology: AMQPTopology, timeout: Duration = .seconds(30),
    inFlightLimit: Int = 8192, _ body: (AMQPPublisher) async throws -> Value
) async throws -> Value {
    let publisher = try AMQPPublisher(
        configuration: configuration, topology: topology, publishTimeout: timeout, inFlightLimit: inFlightLimit,
        logger: quiet)
    return try await running(publisher) {
        try #require(try await eventually { publisher.isConnected })
        return try await body(publisher)
    }
}

/// A connected consumer.
func withConsumer<Value: Sendable>(
    _ configuration: AMQPConfiguration, _ topology: AMQPTopology, queue: String, prefetch: Int = 100,
    _ body: (AMQPConsumer) async throws -> Value
) async throws -> Value {
    let consumer = try AMQPConsumer(
        configuration: configuration, topology: topology, queue: queue, prefetch: prefetch,
        drainTimeout: .milliseconds(200), logger: quiet)
    return try await running(consumer) {
        try #require(try await eventually { consumer.isConnected })
        return try await body(consumer)
    }
}

/// Messages to a queue through the default exchange, numbered.
func messages(_ numbers: Range<Int>, to queue: String) -> [AMQPMessage] {
    numbers.map { AMQPMessage(exchange: "", routingKey: queue, body: Array("\($0)".utf8), messageID: "\($0)") }
}

func failures(_ results: [Result<Void, AMQPError>]) -> [AMQPError] {
    results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
}

/// What went wrong with a publish, message by message.
func codes(_ publisher: AMQPPublisher, _ messages: [AMQPMessage]) async -> [AMQPError.Code] {
    failures(await publisher.publish(messages)).map(\.code)
}

func text(_ delivery: AMQPDelivery) -> String { String(decoding: delivery.message.body, as: UTF8.self) }

/// Takes deliveries until there are as many, acknowledging them when asked to.
func take(_ count: Int, from consumer: AMQPConsumer, acknowledging: Bool = true) async throws -> [AMQPDelivery] {
    var taken: [AMQPDelivery] = []
    while taken.count < count {
        let deliveries = try #require(await consumer.next(limit: count - taken.count))
        if acknowledging { consumer.acknowledge(deliveries) }
        taken += deliveries
    }
    return taken
}

/// Whether a queue comes to hold so many messages that are ready.
func queue(_ name: String, comesToHold count: Int) async throws -> Bool {
    try await AMQPConnection.with(try brokerConfiguration()) { connection in
        try await eventually { try await connection.inspect(queue: name).messages == count }
    }
}

extension AMQPConsumer {
    func acknowledge(_ deliveries: [AMQPDelivery]) {
        settle(deliveries.map { ($0.tag, $0.epoch) }, as: .acknowledge)
    }

    func requeue(_ deliveries: [AMQPDelivery]) { settle(deliveries.map { ($0.tag, $0.epoch) }, as: .requeue) }
}
