package import Tracing

/// Makes spans, and hands those that are recorded to a function when they end: the tracer behind swift-distributed-
/// tracing's API. It does no input or output.
///
/// It is passed to the parts that make spans, and never bootstrapped as the process's tracer: a library that found it
/// there would make spans with whole URLs, which can hold names and handles.
///
/// Decision: docs/decisions/0005-a-trace-in-every-message.md
package final class SpanTracer: Tracer {
    private let sampler: SpanSampler
    private let receive: @Sendable (FinishedSpan) -> Void

    /// - Parameter receive: called once for each recorded span, on the thread that ended it. It must not block.
    package init(sampler: SpanSampler, receive: @escaping @Sendable (FinishedSpan) -> Void) {
        self.sampler = sampler
        self.receive = receive
    }

    /// Starts a span below the one in `context`, or a new trace.
    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> InstrumentationContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> RecordedSpan {
        var context = context()
        let parent = context.trace
        let trace: TraceContext
        if let parent {
            trace = parent.child(isSampled: sampler.samples(parent, isRoot: false))
        } else {
            let root = TraceContext.random(isSampled: true)
            trace = sampler.samples(root, isRoot: true) ? root : root.child(isSampled: false)
        }
        context.trace = trace
        return RecordedSpan(
            operationName, kind: kind, context: context, trace: trace, parent: parent,
            start: instant().nanosecondsSinceEpoch, receive: receive)
    }

    /// Spans are handed over as they end, so there is nothing to flush here.
    package func forceFlush() {}

    /// Reads `traceparent` (W3C Trace Context, section 3.2).
    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout InstrumentationContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let text = extractor.extract(key: "traceparent", from: carrier) else { return }
        context.trace = TraceContext(traceparent: text) ?? context.trace
    }

    /// Writes `traceparent` (W3C Trace Context, section 3.2).
    package func inject<Carrier, Inject: Injector>(
        _ context: InstrumentationContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.traceparent, forKey: "traceparent", into: &carrier)
    }
}

/// Which spans are recorded, as `OTEL_TRACES_SAMPLER` names it (OpenTelemetry, "SDK environment variables").
package enum SpanSampler: Sendable, Hashable {
    /// All, or none.
    case always(Bool)
    /// A share of all traces, from 0 to 1, by their IDs.
    case ratio(Double)
    /// Those whose parent is recorded, all or none of the others.
    case parentOr(Bool)
    /// Those whose parent is recorded, and a share of the traces that begin here.
    case parentOrRatio(Double)

    func samples(_ trace: TraceContext, isRoot: Bool) -> Bool {
        switch self {
        case .always(let all): all
        case .ratio(let share): Self.isWithin(share, trace)
        case .parentOr(let all): isRoot ? all : trace.isSampled
        case .parentOrRatio(let share): isRoot ? Self.isWithin(share, trace) : trace.isSampled
        }
    }

    /// The last 56 bits of a trace ID are random (W3C Trace Context, level 2, section 2.2.5). All services decide the
    /// same for one trace.
    private static func isWithin(_ share: Double, _ trace: TraceContext) -> Bool {
        guard share > 0, let bits = UInt64(trace.traceID.suffix(14), radix: 16) else { return false }
        return Double(bits) < min(share, 1) * Double(UInt64(1) << 56)
    }
}
