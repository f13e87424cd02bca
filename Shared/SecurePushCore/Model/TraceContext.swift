/// The `traceparent` of a request (W3C Trace Context, level 1, section 3.2): `00-TRACE-SPAN-FLAGS` in lower-case hex.
public struct TraceContext: Sendable, Hashable {
    /// 32 hex digits, not all zero.
    public let traceID: String
    /// 16 hex digits, not all zero: the span of the caller.
    public let spanID: String
    /// The header's value.
    public let traceparent: String

    /// The metadata keys of logs, as OpenTelemetry names the fields.
    public enum LogKey {
        /// The key of ``TraceContext/traceID``.
        public static let traceID = "trace_id"
        /// The key of ``TraceContext/spanID``.
        public static let spanID = "span_id"
    }

    /// A new trace with a new span, both random. The flags say that nobody records it (00).
    public static func random() -> TraceContext {
        var generator = SystemRandomNumberGenerator()
        // All zeros are invalid (section 3.2.2.3 and 3.2.2.4).
        let (high, low) = (generator.next(), UInt64.random(in: 1 ... .max, using: &generator))
        return TraceContext(
            traceID: hex(high) + hex(low), spanID: hex(UInt64.random(in: 1 ... .max, using: &generator)))
    }

    private init(traceID: String, spanID: String) {
        self.traceID = traceID
        self.spanID = spanID
        traceparent = "00-\(traceID)-\(spanID)-00"
    }

    /// 16 digits.
    private static func hex(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// Reads a header.
    ///
    /// - Returns: `nil` if it is not valid; it must be ignored then (section 3.2.2.2). A version after 00 may have
    ///   further fields, and only the first four are read.
    public init?(traceparent text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count >= 55, bytes[2] == 0x2D, bytes[35] == 0x2D, bytes[52] == 0x2D else { return nil }
        let version = bytes[0..<2]
        let isFirst = version.elementsEqual("00".utf8)
        guard bytes.count == 55 || (!isFirst && bytes[55] == 0x2D && bytes.count <= 256) else { return nil }
        let (trace, span, flags) = (bytes[3..<35], bytes[36..<52], bytes[53..<55])
        let isHex = [version, trace, span, flags].allSatisfy { ByteSet.lowerHexDigits.containsAll($0) }
        guard isHex, !version.elementsEqual("ff".utf8), trace.contains(where: { $0 != 0x30 }),
            span.contains(where: { $0 != 0x30 })
        else { return nil }
        traceID = String(decoding: trace, as: UTF8.self)
        spanID = String(decoding: span, as: UTF8.self)
        traceparent = text
    }
}
