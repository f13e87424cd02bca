/// The `traceparent` of a request (W3C Trace Context, level 1, section 3.2): `00-TRACE-SPAN-FLAGS` in lower-case hex.
package struct TraceContext: Sendable, Hashable {
    /// The header's value.
    package let traceparent: String

    /// 32 hex digits, not all zero.
    package var traceID: String { String(traceparent.prefix(35).suffix(32)) }

    /// 16 hex digits, not all zero: the span of the caller.
    package var spanID: String { String(traceparent.prefix(52).suffix(16)) }

    /// Whether the caller records its span (section 3.2.2.5.1).
    package var isSampled: Bool {
        let flags = traceparent.utf8.dropFirst(54).first.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 } ?? 0
        return flags & 1 == 1
    }

    /// The metadata keys of logs, as OpenTelemetry names the fields.
    package enum LogKey {
        package static let traceID = "trace_id"
        package static let spanID = "span_id"
    }

    /// A new trace with a new span, both random.
    ///
    /// The system is asked for a random number once per process, because each time costs a system call.
    ///
    /// - Parameter isSampled: whether the span is recorded; otherwise the flags are 00.
    package static func random(isSampled: Bool = false) -> TraceContext {
        var generator = SplitMix64.reserving(3)
        // All zeros are invalid (section 3.2.2.3 and 3.2.2.4).
        return TraceContext(generator.next(), max(generator.next(), 1), max(generator.next(), 1), isSampled: isSampled)
    }

    /// A new random span in the same trace.
    package func child(isSampled: Bool) -> TraceContext {
        var generator = SplitMix64.reserving(1)
        let span = max(generator.next(), 1)
        var bytes = Array(traceparent.utf8.prefix(55))
        bytes.replaceSubrange(0..<2, with: "00".utf8)
        bytes.replaceSubrange(53..<55, with: (isSampled ? "01" : "00").utf8)
        bytes.withUnsafeMutableBufferPointer { Self.write(span, to: $0, at: 36) }
        return TraceContext(valid: String(decoding: bytes, as: UTF8.self))
    }

    private init(valid traceparent: String) { self.traceparent = traceparent }

    private init(_ high: UInt64, _ low: UInt64, _ span: UInt64, isSampled: Bool) {
        traceparent = String(unsafeUninitializedCapacity: 55) { text in
            text.initialize(repeating: UInt8(ascii: "0"))
            for dash in [2, 35, 52] { text[dash] = UInt8(ascii: "-") }
            for (number, start) in [(high, 3), (low, 19), (span, 36)] { Self.write(number, to: text, at: start) }
            if isSampled { text[54] = UInt8(ascii: "1") }
            return 55
        }
    }

    /// Writes 16 hex digits.
    private static func write(_ number: UInt64, to text: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        for index in 0..<16 {
            text[start + index] = hexDigit(UInt8(truncatingIfNeeded: number >> UInt64(60 - 4 * index)) & 15)
        }
    }

    /// Reads a header.
    ///
    /// - Returns: `nil` if it is not valid; it must be ignored then (section 3.2.2.2). A version after 00 may have
    ///   further fields, and only the first four are read.
    package init?(traceparent text: String) {
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
