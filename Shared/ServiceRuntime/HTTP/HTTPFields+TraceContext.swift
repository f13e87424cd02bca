public import HTTPTypes
public import SecurePushCore

extension HTTPFields {
    /// The `traceparent` of a request, where it has one that can be read (W3C Trace Context, section 3.2.2).
    public var traceContext: TraceContext? { self[.traceparent].flatMap { TraceContext(traceparent: $0) } }
}
