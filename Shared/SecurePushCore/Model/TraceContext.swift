import Synchronization

/// The `traceparent` of a request (W3C Trace Context, level 1, section 3.2): `00-TRACE-SPAN-FLAGS` in lower-case hex.
public struct TraceContext: Sendable, Hashable {
    /// The header's value.
    public let traceparent: String

    /// 32 hex digits, not all zero.
    public var traceID: String { String(traceparent.prefix(35).suffix(32)) }

    /// 16 hex digits, not all zero: the span of the caller.
    public var spanID: String { String(traceparent.prefix(52).suffix(16)) }

    /// The metadata keys of logs, as OpenTelemetry names the fields.
    public enum LogKey {
        /// The key of ``TraceContext/traceID``.
        public static let traceID = "trace_id"
        /// The key of ``TraceContext/spanID``.
        public static let spanID = "span_id"
    }

    /// A new trace with a new span, both random. The flags say that nobody records it (00).
    ///
    /// The system is asked for random numbers once per process, because each time costs a system call: the traces of a
    /// process are the numbers of SplitMix64 (Steele, Lea and Flood, 2014) from a random start.
    public static func random() -> TraceContext {
        let turn = turns.wrappingAdd(1, ordering: .relaxed).oldValue &* 3
        // All zeros are invalid (section 3.2.2.3 and 3.2.2.4).
        return TraceContext(number(turn), max(number(turn &+ 1), 1), max(number(turn &+ 2), 1))
    }

    private static let turns = Atomic<UInt64>(0)
    private static let start = UInt64.random(in: .min ... .max)

    private static func number(_ position: UInt64) -> UInt64 {
        var word = start &+ (position &+ 1) &* 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    private init(_ high: UInt64, _ low: UInt64, _ span: UInt64) {
        traceparent = String(unsafeUninitializedCapacity: 55) { text in
            text.initialize(repeating: UInt8(ascii: "0"))
            for dash in [2, 35, 52] { text[dash] = UInt8(ascii: "-") }
            for (number, start) in [(high, 3), (low, 19), (span, 36)] {
                for index in 0..<16 {
                    text[start + index] = hexDigit(UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * index)) & 15)
                }
            }
            return 55
        }
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
        traceparent = text
    }
}
