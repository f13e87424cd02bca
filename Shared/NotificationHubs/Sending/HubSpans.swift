import Domain
import Foundations
import NIOCore
import Tracing

/// The spans of requests to the hub, of kind CLIENT (OpenTelemetry, "Semantic conventions for HTTP spans").
///
/// They hold nothing of the recipient, the credentials or the query. The hub gets no `traceparent`.
struct HubSpans: Sendable {
    private static let template = "/{hub}/messages/"

    private let tracer: any Tracer
    /// The attributes that all have.
    private let attributes: SpanAttributes

    init(tracer: any Tracer, configuration: NotificationHubConfiguration) {
        self.tracer = tracer
        var attributes: SpanAttributes = [:]
        attributes["http.request.method"] = "POST"
        attributes["url.template"] = Self.template
        attributes["url.full"] = "\(configuration.endpoint.url)/\(configuration.hubName)/messages/"
        attributes["server.address"] = configuration.endpoint.host
        attributes["server.port"] = configuration.endpoint.port
        self.attributes = attributes
    }

    /// Makes the span of a request that has ended: from its submission to now.
    func record(_ send: HubSend, _ trace: PushTrace, _ outcome: SendOutcome, _ end: HubRequestEnd, took: TimeAmount) {
        var context = InstrumentationContext.topLevel
        context.trace = trace.parent
        let span: any Tracing.Span = tracer.startSpan(
            "POST \(Self.template)", context: context, ofKind: .client,
            at: DefaultTracerClock.Timestamp.before(.nanoseconds(took.nanoseconds)))
        guard span.isRecording else { return }
        var attributes = attributes
        attributes["securepush.platform"] = send.notification.platform.rawValue
        attributes["securepush.result"] = outcome.meaning.label
        if trace.resendCount > 0 { attributes["http.request.resend_count"] = trace.resendCount }
        if case .status(let status) = end { attributes["http.response.status_code"] = status }
        span.attributes = attributes
        switch end {
        case .status(let status) where status < 400: break
        case .status, .timeout, .connection, .shutdown, .invalid: span.fail(end.code)
        }
        span.end()
    }
}
