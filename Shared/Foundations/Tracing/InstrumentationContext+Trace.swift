package import Tracing

extension InstrumentationContext {
    private enum TraceKey: InstrumentationContextKey {
        typealias Value = TraceContext
    }

    /// The IDs of the span that further spans are below.
    package var trace: TraceContext? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }

    /// A context below a span of another process.
    ///
    /// - Parameter traceparent: begins a new trace if it is missing or not valid.
    package init(traceparent: String?) {
        self = .topLevel
        trace = traceparent.flatMap { TraceContext(traceparent: $0) }
    }
}

extension Tracing.Span {
    /// The IDs of this span, for messages and for stored rows; `nil` for a span of another tracer.
    package var trace: TraceContext? { context.trace }

    /// Marks the span as failed.
    ///
    /// - Parameter type: takes few values, and holds nothing of a request (OpenTelemetry's attribute `error.type`).
    package func fail(_ type: String) {
        updateAttributes { $0["error.type"] = type }
        setStatus(SpanStatus(code: .error))
    }
}

extension DefaultTracerClock.Timestamp {
    /// The time that was `duration` ago.
    package static func before(_ duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let nanoseconds = overflow ? 0 : UInt64(clamping: whole + attoseconds / 1_000_000_000)
        let now = DefaultTracerClock.now.nanosecondsSinceEpoch
        return Self(nanosecondsSinceEpoch: now - min(nanoseconds, now))
    }
}
