import Synchronization
package import Tracing

/// A span of ``SpanTracer``. One that is not recorded only carries its context.
package final class RecordedSpan: Tracing.Span {
    private struct State {
        var name: String
        var attributes = SpanAttributes()
        var status: SpanStatus?
        var links: [TraceContext] = []
        var events: [SpanEvent] = []
        var isEnded = false
    }

    /// More links or events of one span are dropped.
    private static let maxLinksAndEvents = 16

    /// The context, with ``TraceContext`` of this span.
    package let context: InstrumentationContext
    private let kind: SpanKind
    private let trace: TraceContext
    private let parent: TraceContext?
    private let start: UInt64
    private let state: Mutex<State>
    private let receive: @Sendable (FinishedSpan) -> Void

    init(
        _ name: String, kind: SpanKind, context: InstrumentationContext, trace: TraceContext, parent: TraceContext?,
        start: UInt64, receive: @escaping @Sendable (FinishedSpan) -> Void
    ) {
        self.kind = kind
        self.context = context
        self.trace = trace
        self.parent = parent
        self.start = start
        self.receive = receive
        isRecording = trace.isSampled
        state = Mutex(State(name: name))
    }

    /// Whether it is handed over when it ends.
    package let isRecording: Bool

    package var operationName: String {
        get { state.withLock { $0.name } }
        set { state.withLock { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { state.withLock { $0.attributes } }
        set { if isRecording { state.withLock { $0.attributes = newValue } } }
    }

    package func setStatus(_ status: SpanStatus) { state.withLock { $0.status = status } }

    /// Adds an event, up to 16.
    package func addEvent(_ event: SpanEvent) {
        guard isRecording else { return }
        state.withLock { if $0.events.count < Self.maxLinksAndEvents { $0.events.append(event) } }
    }

    /// Adds the type of an error as an event. Its text is left out, because it could hold a part of a request.
    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard isRecording else { return }
        var attributes = attributes
        attributes["exception.type"] = String(reflecting: type(of: error))
        addEvent(SpanEvent(name: "exception", at: instant(), attributes: attributes))
    }

    /// Adds a link, up to 16. Only the linked span's IDs are kept.
    package func addLink(_ link: SpanLink) {
        guard isRecording, let trace = link.context.trace else { return }
        state.withLock { if $0.links.count < Self.maxLinksAndEvents { $0.links.append(trace) } }
    }

    /// Ends the span, and hands it over if it is recorded. Only the first call has an effect.
    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard isRecording else { return }
        let end = instant().nanosecondsSinceEpoch
        let finished = state.withLock { state -> FinishedSpan? in
            if state.isEnded { return nil }
            state.isEnded = true
            return FinishedSpan(
                name: state.name, kind: kind, trace: trace, parentSpanID: parent?.spanID, start: start,
                end: max(start, end), attributes: state.attributes, status: state.status, links: state.links,
                events: state.events)
        }
        if let finished { receive(finished) }
    }
}

/// A span that has ended, for an exporter.
package struct FinishedSpan: Sendable {
    /// The name, which takes few values.
    package var name: String
    package var kind: SpanKind
    /// The IDs of the trace and of the span.
    package var trace: TraceContext
    /// The ID of the parent; `nil` for the first span of a trace.
    package var parentSpanID: String?
    /// Nanoseconds since the Unix epoch.
    package var start: UInt64
    /// Nanoseconds since the Unix epoch, not before ``start``.
    package var end: UInt64
    package var attributes: SpanAttributes
    /// The status; `nil` if it was not set.
    package var status: SpanStatus?
    package var links: [TraceContext]
    package var events: [SpanEvent]
}
