import AMQP
import Domain
import Foundations
import Tracing

/// The spans of published messages, of kind PRODUCER (OpenTelemetry, "Semantic conventions for RabbitMQ").
///
/// A message carries the IDs of its own span, so that the span of its processing is below it.
///
/// Decision: docs/decisions/0005-a-trace-in-every-message.md
struct PublishSpans: Sendable {
    private let tracer: any Tracer
    private let topology: DispatchTopology
    /// The attributes that all have.
    private let attributes: SpanAttributes

    init(tracer: any Tracer, configuration: MessagingConfiguration) {
        self.tracer = tracer
        topology = configuration.topology
        var attributes: SpanAttributes = [:]
        attributes["messaging.system"] = "rabbitmq"
        attributes["messaging.operation.name"] = "publish"
        attributes["messaging.operation.type"] = "send"
        if let node = configuration.amqp.onlyNode {
            attributes["server.address"] = node.host
            attributes["server.port"] = node.port
        }
        self.attributes = attributes
    }

    /// Starts a span below the message's `traceparent`, and replaces that by the span's own.
    func start(_ message: inout DispatchMessage, to route: DispatchRoute) -> any Tracing.Span {
        let (exchange, key, _) = topology.address(of: route)
        let destination = [exchange, key].filter { !$0.isEmpty }.joined(separator: ":")
        let span: any Tracing.Span = tracer.startSpan(
            "publish \(destination)", context: InstrumentationContext(traceparent: message.traceparent),
            ofKind: .producer)
        if span.isRecording {
            var attributes = attributes
            attributes["messaging.destination.name"] = destination
            if !key.isEmpty { attributes["messaging.rabbitmq.destination.routing_key"] = key }
            // The ID of the notification, which opens nothing.
            attributes["messaging.message.id"] = message.id.description
            span.attributes = attributes
        }
        message.traceparent = span.trace?.traceparent ?? message.traceparent
        return span
    }

    /// Ends a span with the broker's confirm.
    func end(_ span: any Tracing.Span, _ result: Result<Void, MessagingError>) {
        if case .failure(let error) = result { span.fail("\(error.code)") }
        span.end()
    }
}
