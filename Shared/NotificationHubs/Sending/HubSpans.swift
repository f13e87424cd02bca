import Domain
import Foundations
import NIOCore
import Tracing

/// The spans of requests to the hub, of kind CLIENT (OpenTelemetry, "Semantic conventions for HTTP spans").
///
/// They hold nothing of the recipient, the credentials or the query. Your own hub gets the `traceparent` of the span
/// (W3C Trace Context), and Azure nothing.
struct HubSpans: Sendable {
    private static let template = "/{hub}/messages/"

    private let tracer: any Tracer
    /// The attributes that all have.
    private let attributes: SpanAttributes
    private let isAzure: Bool

    init(tracer: any Tracer, configuration: NotificationHubConfiguration) {
        self.tracer = tracer
        var attributes: SpanAttributes = [:]
        attributes["http.request.method"] = "POST"
        attributes["url.template"] = Self.template
        attributes["url.full"] = "\(configuration.endpoint.url)/\(configuration.hubName)/messages/"
        attributes["server.address"] = configuration.endpoint.host
        attributes["server.port"] = configuration.endpoint.port
        self.attributes = attributes
        isAzure = Self.isAzure(configuration.endpoint.host)
    }

    /// Whether a host is one of Azure's, such as `NS.servicebus.windows.net` or `NS.servicebus.chinacloudapi.cn`.
    static func isAzure(_ host: String) -> Bool {
        host.lowercased().utf8.split(separator: UInt8(ascii: ".")).dropFirst().first?.elementsEqual("servicebus".utf8)
            == true
    }

    /// Begins the span of a request, and adds its header.
    ///
    /// - Returns: `nil` if it is not recorded.
    func begin(_ trace: PushTrace, _ notification: inout HubNotification) -> (any Tracing.Span)? {
        var context = InstrumentationContext.topLevel
        context.trace = trace.parent
        let span: any Tracing.Span = tracer.startSpan(
            "POST \(Self.template)", context: context, ofKind: .client, at: DefaultTracerClock.now)
        guard span.isRecording else { return nil }
        var attributes = attributes
        attributes["securepush.platform"] = notification.platform.rawValue
        if trace.resendCount > 0 { attributes["http.request.resend_count"] = trace.resendCount }
        span.attributes = attributes
        if !isAzure, let own = span.trace { notification.headers.append(.init("traceparent", own.traceparent)) }
        return span
    }

    /// Ends the span of a request.
    static func end(_ span: any Tracing.Span, _ outcome: SendOutcome, _ end: HubRequestEnd) {
        span.updateAttributes { attributes in
            attributes["securepush.result"] = outcome.meaning.label
            if case .status(let status) = end { attributes["http.response.status_code"] = status }
        }
        switch end {
        case .status(let status) where status < 400: break
        case .status, .timeout, .connection, .shutdown, .invalid: span.fail(end.code)
        }
        span.end()
    }
}
