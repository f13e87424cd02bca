import Foundations
import HTTPTypes
import Synchronization
import Tracing

/// The span of one request, of kind SERVER (OpenTelemetry, "Semantic conventions for HTTP spans").
///
/// It exists only while spans are exported. It never holds the path, the query or a user's name: some paths contain
/// names, so the attributes `url.path` and `url.query` are left out.
package final class RequestTrace: Sendable {
    /// The trace of the request that the task handles; `nil` if it is not traced, and on a direct route.
    @TaskLocal package static var current: RequestTrace?

    private let tracer: any Tracer
    private let start = DefaultTracerClock.now
    private let hasCaller: Bool
    private let span: Mutex<any Tracing.Span>

    /// - Parameter parent: the `traceparent` of the request.
    init(_ tracer: any Tracer, parent: TraceContext?) {
        self.tracer = tracer
        hasCaller = parent != nil
        var context = InstrumentationContext.topLevel
        context.trace = parent
        span = Mutex(tracer.startSpan("HTTP", context: context, ofKind: .server, at: start))
    }

    /// The IDs of the span.
    var context: TraceContext? { span.withLock { $0.trace } }

    /// Puts the request into the trace of the notification that it reads.
    ///
    /// A caller that has sent a `traceparent` keeps its own trace, and the span gets a link to the notification's.
    package func join(_ traceparent: String?) {
        let notification = InstrumentationContext(traceparent: traceparent)
        guard notification.trace != nil else { return }
        span.withLock { span in
            if hasCaller {
                span.addLink(SpanLink(context: notification, attributes: [:]))
            } else {
                // The first one is never ended, and so never exported.
                span = tracer.startSpan("HTTP", context: notification, ofKind: .server, at: start)
            }
        }
    }

    /// Ends the span.
    ///
    /// - Parameter route: the template; `nil` if no route has this path.
    func end(_ method: HTTPRequest.Method, route: String?, status: Int) {
        let label = HTTPInstruments.methodLabel(method)
        let isKnown = label != "other"
        span.withLock { span in
            span.operationName = [isKnown ? label : "HTTP", route].compactMap(\.self).joined(separator: " ")
            span.updateAttributes { attributes in
                attributes["http.request.method"] = isKnown ? label : "_OTHER"
                attributes["http.route"] = route
                attributes["http.response.status_code"] = status
            }
            if status >= 500 { span.fail("\(status)") }
            span.end()
        }
    }
}
