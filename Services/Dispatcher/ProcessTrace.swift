import Domain
import Foundations
import Tracing

/// Makes the spans of messages that a dispatcher processes, of kind CONSUMER (OpenTelemetry, "Semantic conventions for
/// RabbitMQ"): first attempts, retries, reminders and withdrawals.
struct ProcessTracing: Sendable {
    let tracer: any Tracer
    /// `EXCHANGE:KEY:QUEUE`.
    let destination: String
    let routingKey: String

    /// Begins a span below the message's own.
    ///
    /// - Parameters:
    ///   - stored: the notification's trace, for a message without one.
    ///   - arrival: when the message was taken from the broker's deliveries.
    func begin(
        _ delivery: DispatchDelivery, _ message: DispatchMessage, stored: String?,
        at arrival: DefaultTracerClock.Timestamp
    ) -> ProcessTrace {
        let span: any Tracing.Span = tracer.startSpan(
            "process \(destination)", context: InstrumentationContext(traceparent: message.traceparent ?? stored),
            ofKind: .consumer, at: arrival)
        if span.isRecording {
            var attributes: SpanAttributes = [:]
            attributes["messaging.system"] = "rabbitmq"
            attributes["messaging.operation.name"] = "process"
            attributes["messaging.operation.type"] = "process"
            attributes["messaging.destination.name"] = destination
            attributes["messaging.rabbitmq.destination.routing_key"] = routingKey
            attributes["messaging.rabbitmq.message.delivery_tag"] = Int64(clamping: delivery.tag)
            attributes["messaging.message.id"] = message.id.description
            attributes["securepush.work"] = message.kind?.rawValue ?? "push"
            if let attempt = message.attempt { attributes["securepush.retry"] = attempt }
            if delivery.isRedelivered { attributes["securepush.redelivered"] = true }
            span.attributes = attributes
        }
        return ProcessTrace(span)
    }
}

/// The span of one message.
final class ProcessTrace: Sendable {
    private let span: any Tracing.Span

    init(_ span: any Tracing.Span) { self.span = span }

    /// The `traceparent` of messages that are published because of this one.
    var traceparent: String? { span.trace?.traceparent }

    /// The span's part in the trace of a request to the hub; `nil` if the span is not recorded.
    func push(resendCount: Int) -> PushTrace? {
        guard span.isRecording, let trace = span.trace else { return nil }
        return PushTrace(parent: trace, resendCount: resendCount)
    }

    /// Ends the span.
    ///
    /// - Parameter result: `settled`, `retried`, `dead_lettered` or `requeued`.
    func end(_ result: String, isFailed: Bool = false) {
        if span.isRecording { span.updateAttributes { $0["securepush.result"] = result } }
        if isFailed { span.fail(result) }
        span.end()
    }
}

extension DispatchAttempt {
    /// What the request for a platform is traced with; `nil` if it is not.
    func pushTrace(of platform: Platform) -> PushTrace? {
        guard let trace else { return nil }
        return trace.push(resendCount: plan.deliveries.first { $0.platform == platform }?.attempts ?? 0)
    }
}

extension Settlement {
    /// Ends the span of a message that is acknowledged.
    func endTrace() {
        guard let trace else { return }
        if dead != nil { return trace.end("dead_lettered", isFailed: true) }
        trace.end(retry == nil ? "settled" : "retried")
    }
}
