import AMQP
import Domain
import Foundation
import Logging
import Messaging
import StackKit
import TestSupport
import Testing
import Tracing

private let quiet = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })

/// Publisher and consumer on queues of the test's own.
struct Stack {
    var publisher: RabbitMQDispatchPublisher
    var consumer: RabbitMQDispatchConsumer
    var configuration: MessagingConfiguration

    var topology: DispatchTopology { configuration.topology }

    func publish(_ messages: [DispatchMessage], to route: DispatchRoute = .dispatch) async {
        await publishConfirmed(messages, to: route, by: publisher)
    }

    func next() async throws -> DispatchDelivery { try #require(await consumer.next(limit: 1)?.first) }

    func dead() async throws -> AMQPDelivery? {
        try await AMQPConnection.with(configuration.amqp) { connection in
            var delivery: AMQPDelivery?
            _ = try await eventually {
                delivery = try await connection.get(queue: topology.deadQueue)
                return delivery != nil
            }
            if let delivery { try await connection.acknowledge(delivery) }
            return delivery
        }
    }
}

/// Publishes until everything is confirmed. A broker that is busy refuses messages for queues that it has just made.
func publishConfirmed(
    _ messages: [DispatchMessage], to route: DispatchRoute, by publisher: RabbitMQDispatchPublisher
) async {
    var (rest, failure) = (messages, "")
    let areConfirmed = try? await eventually(every: .milliseconds(100)) {
        let results = await publisher.publish(rest, to: route)
        rest = zip(rest, results).compactMap { message, result in
            guard case .failure(let error) = result else { return nil }
            failure = "\(error)"
            return message
        }
        return rest.isEmpty
    }
    if areConfirmed != true { Issue.record("not confirmed: \(failure)") }
}

/// Publishes past the codec.
@discardableResult
func publishRaw(_ messages: [AMQPMessage], to broker: AMQPConfiguration) async throws -> [Result<Void, AMQPError>] {
    let publisher = try AMQPPublisher(configuration: broker, logger: quiet)
    return try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await publisher.run() }
        try await expectEventually { publisher.isConnected }
        let results = await publisher.publish(messages)
        group.cancelAll()
        return results
    }
}

/// - Parameters:
///   - tracer: of the publisher.
///   - declares: whether publisher and consumer declare what a test removes. They do so at any moment, also before a
///     message is returned.
func withStack(
    tracer: (any Tracer)? = nil, declares: Bool = true, _ body: (Stack) async throws -> Void
) async throws {
    var configuration = try MessagingConfiguration(
        amqpURL: try TestEnvironment.amqpURL, retryDelays: [.milliseconds(100)], connectionName: "test",
        prefix: "test-\(UUID().uuidString)")
    if !declares {
        try await AMQPConnection.with(configuration.amqp) { try await $0.declare(configuration.topology.declarations) }
        configuration.topology.isDeclared = false
    }
    let publisher = try RabbitMQDispatchPublisher(configuration: configuration, tracer: tracer, logger: quiet)
    let consumer = try RabbitMQDispatchConsumer(configuration: configuration, publisher: publisher, logger: quiet)
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { await publisher.run() }
        group.addTask { await consumer.run() }
        #expect(try await eventually { publisher.isConnected && consumer.isConnected })
        try await body(Stack(publisher: publisher, consumer: consumer, configuration: configuration))
        group.cancelAll()
    }
    try await AMQPConnection.with(configuration.amqp) { connection in
        for queue in configuration.topology.declarations.queues { try await connection.delete(queue: queue.name) }
        for exchange in configuration.topology.declarations.exchanges {
            try await connection.delete(exchange: exchange.name)
        }
    }
}

@Suite(.timeLimit(.minutes(5))) struct DispatchOverRabbitMQTests {
    @Test func `What is published is delivered`() async throws {
        try await withStack { stack in
            let message = DispatchMessage(id: NotificationID(), traceparent: "00-1-2-01")
            await stack.publish([message])
            let delivery = try await stack.next()
            #expect(delivery.message == message)
            #expect(!delivery.isRedelivered)
            stack.consumer.acknowledge([delivery])
        }
    }

    @Test func `The first message owns the first attempt once`() async throws {
        try await withStack { stack in
            let message = DispatchMessage(id: NotificationID(), traceparent: "00-1-2-01", isFirst: true)
            await stack.publish([message])
            let delivery = try await stack.next()
            #expect(delivery.message == message && delivery.ownsFirstAttempt)
            stack.consumer.requeue([delivery])
            let again = try await stack.next()
            #expect(again.message == message && !again.ownsFirstAttempt)
            stack.consumer.acknowledge([again])
        }
    }

    /// The consumer dies with the delivery; nobody returns it.
    @Test func `What a lost consumer held is not the first again`() async throws {
        try await withStack { stack in
            let message = DispatchMessage(id: NotificationID(), traceparent: "00-1-2-01", isFirst: true)
            let lost = try RabbitMQDispatchConsumer(
                configuration: stack.configuration, publisher: stack.publisher, logger: quiet)
            let run = Task { await lost.run() }
            #expect(try await eventually { lost.isConnected })
            // The broker gives them in turn to both consumers.
            await stack.publish([message, message])
            let held = try #require(await lost.next(limit: 1)?.first)
            #expect(held.ownsFirstAttempt)
            run.cancel()
            await run.value
            let deliveries = [try await stack.next(), try await stack.next()]
            #expect(deliveries.map(\.isRedelivered) == [false, true])
            #expect(deliveries.map(\.ownsFirstAttempt) == [true, false])
            stack.consumer.acknowledge(deliveries)
        }
    }

    @Test func `A retry comes back after its delay`() async throws {
        try await withStack { stack in
            let message = DispatchMessage(
                id: NotificationID(), platforms: [.apple], attempt: 1, traceparent: "00-1-2-01")
            let start = ContinuousClock.now
            await stack.publish([message], to: .retry(delay: 0))
            let delivery = try await stack.next()
            #expect(ContinuousClock.now - start >= .milliseconds(90))
            #expect(delivery.message == message)
            stack.consumer.acknowledge([delivery])
        }
    }

    @Test func `The dead keep their reason`() async throws {
        try await withStack { stack in
            let message = DispatchMessage(id: NotificationID())
            await stack.publish([message], to: .dead(reason: "out of attempts"))
            let dead = try await stack.dead()
            #expect(dead?.message.headers["reason"] == "out of attempts")
            #expect(dead?.message.messageID == message.id.description)
        }
    }

    @Test func `What cannot be read is dead-lettered and the rest goes on`() async throws {
        try await withStack { stack in
            let poison = AMQPMessage(
                exchange: stack.topology.exchange, routingKey: DispatchTopology.dispatchKey,
                body: Array("poison".utf8))
            try await publishRaw([poison], to: stack.configuration.amqp)
            await stack.publish([DispatchMessage(id: NotificationID())])
            for _ in 0..<2 { stack.consumer.acknowledge([try await stack.next()]) }
            let dead = try await stack.dead()
            #expect(dead.map { String(decoding: $0.message.body, as: UTF8.self) } == "poison")
            #expect(dead?.message.headers["reason"]?.string?.hasPrefix("unreadable") == true)
        }
    }

    @Test func `What is given back comes again`() async throws {
        try await withStack { stack in
            await stack.publish([DispatchMessage(id: NotificationID())])
            stack.consumer.requeue([try await stack.next()])
            let again = try await stack.next()
            #expect(again.isRedelivered)
            stack.consumer.acknowledge([again])
        }
    }
}
