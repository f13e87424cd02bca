import AMQP
import Domain
import Foundation
import Foundations
import Logging
import StackKit
import TestSupport
import Testing
import Tracing

@testable import Messaging

@Suite("Spans of published messages", .timeLimit(.minutes(5)))
struct PublishSpansTests {
    private let sender = TraceContext.random(isSampled: true)

    @Test func `A message carries the IDs of its span`() async throws {
        let book = SpanTable()
        try await withStack(tracer: book.tracer()) { stack in
            let message = DispatchMessage(id: NotificationID(), traceparent: sender.traceparent, isFirst: true)
            await stack.publish([message])
            let delivery = try await stack.next()
            let span = try #require(book.spans.first)
            #expect(delivery.message?.traceparent == span.trace.traceparent)
            #expect(delivery.message?.id == message.id && delivery.message?.isFirst == true)
            let destination = "\(stack.topology.exchange):dispatch"
            #expect(span.name == "publish \(destination)" && span.kind == .producer && !span.hasFailed)
            #expect(span.trace.traceID == sender.traceID && span.parentSpanID == sender.spanID)
            let texts = span.texts
            #expect(texts["messaging.system"] == "rabbitmq" && texts["messaging.operation.type"] == "send")
            #expect(texts["messaging.destination.name"] == destination)
            #expect(texts["messaging.rabbitmq.destination.routing_key"] == "dispatch")
            #expect(texts["messaging.message.id"] == message.id.description)
            #expect(texts["server.address"] == "127.0.0.1" && texts["server.port"] != nil)
            stack.consumer.acknowledge([delivery])
        }
    }

    @Test func `Retries and dead letters are named by their destinations`() async throws {
        let book = SpanTable()
        try await withStack(tracer: book.tracer()) { stack in
            let message = DispatchMessage(id: NotificationID(), attempt: 1, traceparent: sender.traceparent)
            await stack.publish([message], to: .retry(delay: 0))
            await stack.publish([message], to: .dead(reason: "x"))
            let retry = stack.topology.retryQueue(delay: .milliseconds(100))
            #expect(book.spans.map(\.name) == ["publish \(retry)", "publish \(stack.topology.deadExchange)"])
        }
    }

    /// The context goes on in the message, even if nobody records the span.
    @Test func `A message of a trace that is not sampled keeps it`() async throws {
        let book = SpanTable()
        try await withStack(tracer: book.tracer(.always(false))) { stack in
            await stack.publish([DispatchMessage(id: NotificationID(), traceparent: sender.traceparent)])
            let delivery = try await stack.next()
            let trace = delivery.message?.traceparent.flatMap { TraceContext(traceparent: $0) }
            #expect(trace?.traceID == sender.traceID && trace?.isSampled == false && book.spans.isEmpty)
            stack.consumer.acknowledge([delivery])
        }
    }

    @Test func `A publish that fails is an error`() async throws {
        let book = SpanTable()
        let configuration = try MessagingConfiguration(
            amqpURL: "amqp://127.0.0.1:1", retryDelays: [.seconds(1)], connectionName: "test")
        let publisher = try RabbitMQDispatchPublisher(
            configuration: configuration, tracer: book.tracer(),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let results = await publisher.publish([DispatchMessage(id: NotificationID())], to: .dispatch)
        guard case .failure(let error) = results.first else {
            Issue.record("published")
            return
        }
        #expect(book.spans.count == 1 && book.spans[0].texts["error.type"] == "\(error.code)")
    }
}
