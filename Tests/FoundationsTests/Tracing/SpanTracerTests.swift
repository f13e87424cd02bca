import Foundations
import TestSupport
import Testing
import Tracing

struct SpanTracerTests {
    private static let sender = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    private static let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"

    private func span(_ tracer: SpanTracer, below traceparent: String?) -> RecordedSpan {
        tracer.startSpan("work", context: InstrumentationContext(traceparent: traceparent), ofKind: .server)
    }

    @Test func `A span is below its parent`() throws {
        let book = SpanTable()
        let span = span(book.tracer(), below: Self.sender)
        let trace = try #require(span.trace)
        #expect(TraceContext(traceparent: trace.traceparent) == trace)
        #expect(trace.traceID == "0af7651916cd43dd8448eb211c80319c")
        #expect(trace.spanID != "b7ad6b7169203331" && trace.isSampled)
        span.end()
        let finished = try #require(book.spans.first)
        #expect(finished.parentSpanID == "b7ad6b7169203331" && finished.trace == trace)
        #expect(finished.kind == .server && finished.end >= finished.start)
    }

    @Test(arguments: [nil, "", "00-zz-1-01", "00-00000000000000000000000000000000-b7ad6b7169203331-01"])
    func `Without a valid parent a trace begins`(_ traceparent: String?) throws {
        let book = SpanTable()
        let tracer = book.tracer()
        let spans = (0..<100).map { _ in span(tracer, below: traceparent) }
        for span in spans { span.end() }
        #expect(book.spans.allSatisfy { $0.parentSpanID == nil })
        #expect(Set(book.spans.map(\.trace.traceID)).count == 100)
        #expect(book.spans.allSatisfy { TraceContext(traceparent: $0.trace.traceparent) == $0.trace })
    }

    @Test func `A span ends once`() {
        let book = SpanTable()
        let span = span(book.tracer(), below: nil)
        span.end()
        span.end()
        #expect(book.spans.count == 1)
    }

    /// The name of each sampler, and whether it records a new trace, one that the caller records, and one that it does
    /// not.
    @Test(arguments: [
        (SpanSampler.always(true), [true, true, true]), (.always(false), [false, false, false]),
        (.parentOr(true), [true, true, false]), (.parentOr(false), [false, true, false]),
        (.ratio(0), [false, false, false]), (.ratio(1), [true, true, true]),
        (.parentOrRatio(0), [false, true, false]), (.parentOrRatio(1), [true, true, false]),
    ])
    func `A sampler decides by the parent and its share`(_ sampler: SpanSampler, _ expected: [Bool]) {
        let book = SpanTable()
        let tracer = book.tracer(sampler)
        let spans = [nil, Self.sender, Self.unsampled].map { span(tracer, below: $0) }
        #expect(spans.map(\.isRecording) == expected)
        // The context goes on in any case, with the decision in it.
        #expect(spans.map { $0.trace?.isSampled } == expected)
        for span in spans { span.end() }
        #expect(book.spans.count == expected.count { $0 })
    }

    /// Every service decides the same, and a tenth is about a tenth.
    @Test func `A share is decided by the trace ID`() {
        let roots = (0..<20_000).map { _ in TraceContext.random() }
        let (one, other) = (SpanTable().tracer(.ratio(0.1)), SpanTable().tracer(.ratio(0.1)))
        let decisions = roots.map { span(one, below: $0.traceparent).isRecording }
        #expect(decisions == roots.map { span(other, below: $0.traceparent).isRecording })
        #expect((1700...2300).contains(decisions.count { $0 }))
    }

    @Test func `Links and events are bounded`() throws {
        let book = SpanTable()
        let span = span(book.tracer(), below: nil)
        for _ in 0..<100 {
            span.addLink(SpanLink(context: InstrumentationContext(traceparent: Self.sender), attributes: [:]))
            span.addEvent(SpanEvent(name: "event"))
        }
        span.end()
        let finished = try #require(book.spans.first)
        #expect(finished.links.count == 16 && finished.events.count == 16)
        #expect(finished.links[0].spanID == "b7ad6b7169203331")
    }

    private struct Secretive: Error { let secret = "hunter2" }

    @Test func `Of an error only the type is kept`() throws {
        let book = SpanTable()
        let span = span(book.tracer(), below: nil)
        span.recordError(Secretive())
        span.fail("timeout")
        span.end()
        let finished = try #require(book.spans.first)
        #expect("\(finished)".contains("Secretive") && !"\(finished)".contains("hunter2"))
        #expect(finished.hasFailed && finished.texts["error.type"] == "timeout")
    }
}
