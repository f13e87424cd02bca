/// A strict scanner of JSON text (RFC 8259, I-JSON's strings) that finds values by place and builds no tree.
///
/// A payload must come back exactly as it came: numbers as they were written, `null`, the order of members, escapes.
/// Foundation's decoder gives none of that back, hides repeated members, and costs several times as much; so this one
/// only checks the grammar and tells where each value stands, and the payload is kept as its bytes.
///
/// It refuses what RFC 8259 refuses, texts that are not UTF-8, unpaired surrogates (RFC 7493, section 2.1), and nesting
/// deeper than ``maximumDepth``.
public struct JSONScanner: ~Copyable {
    /// How deep arrays and objects may nest.
    public static let maximumDepth = 128

    let bytes: UnsafeBufferPointer<UInt8>
    var position: Int
    let end: Int

    /// A scanner of a range of a text. The pointer must outlive the scanner.
    public init(_ bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    /// Reads the one value that the text consists of.
    public mutating func document() throws(JSONSyntaxError) -> JSONSpan {
        guard isUTF8(bytes) else { throw JSONSyntaxError(message: "The text is not UTF-8", offset: 0) }
        let span = try value(depth: 0)
        skipWhiteSpace()
        guard position == end else { throw unexpected("after the value") }
        return span
    }

    /// Reads one value with the white space before it.
    mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONSpan {
        skipWhiteSpace()
        guard position < end else { throw unexpected("where a value is expected") }
        let start = position
        switch bytes[position] {
        case UInt8(ascii: "\""): return try string()
        case UInt8(ascii: "{"):
            try members(depth: depth) { (_, _) throws(JSONSyntaxError) in }
            return span(.object, from: start)
        case UInt8(ascii: "["):
            try elements(depth: depth) { _ in }
            return span(.array, from: start)
        case UInt8(ascii: "t"): return try literal("true", .boolean)
        case UInt8(ascii: "f"): return try literal("false", .boolean)
        case UInt8(ascii: "n"): return try literal("null", .null)
        default: return try number()
        }
    }

    /// Reads an object, giving each member's name and value in their order, repeated ones too.
    public mutating func members(
        depth: Int = 0, _ body: (_ name: JSONSpan, _ value: JSONSpan) throws(JSONSyntaxError) -> Void
    ) throws(JSONSyntaxError) {
        try enter("{", depth: depth)
        if take("}") { return }
        repeat {
            skipWhiteSpace()
            guard position < end, bytes[position] == UInt8(ascii: "\"") else {
                throw unexpected("where a member's name is expected")
            }
            let name = try string()
            guard take(":") else { throw unexpected("where ':' is expected") }
            try body(name, try value(depth: depth + 1))
        } while take(",")
        guard take("}") else { throw unexpected("where ',' or '}' is expected") }
    }

    /// Reads an array, giving each element in its order.
    public mutating func elements(
        depth: Int = 0, _ body: (_ element: JSONSpan) -> Void
    ) throws(JSONSyntaxError) {
        try enter("[", depth: depth)
        if take("]") { return }
        repeat { body(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw unexpected("where ',' or ']' is expected") }
    }

    private mutating func enter(_ bracket: Character, depth: Int) throws(JSONSyntaxError) {
        guard depth < JSONScanner.maximumDepth else {
            throw JSONSyntaxError(message: "Nested deeper than \(JSONScanner.maximumDepth)", offset: position)
        }
        guard take(bracket) else { throw unexpected("where '\(bracket)' is expected") }
    }

    private mutating func literal(
        _ text: StaticString, _ kind: JSONSpan.Kind
    ) throws(JSONSyntaxError) -> JSONSpan {
        let start = position
        for index in 0..<text.utf8CodeUnitCount {
            guard position < end, bytes[position] == text.utf8Start[index] else { throw unexpected("in a value") }
            position += 1
        }
        return span(kind, from: start)
    }

    private mutating func number() throws(JSONSyntaxError) -> JSONSpan {
        let start = position
        if position < end, bytes[position] == UInt8(ascii: "-") { position += 1 }
        if position < end, bytes[position] == UInt8(ascii: "0") { position += 1 } else { try digits() }
        if position < end, bytes[position] == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        if position < end, bytes[position] | 0x20 == UInt8(ascii: "e") {
            position += 1
            if position < end, bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-") {
                position += 1
            }
            try digits()
        }
        return span(.number, from: start)
    }

    private mutating func digits() throws(JSONSyntaxError) {
        let start = position
        while position < end, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
        guard position > start else { throw unexpected("where a value is expected") }
    }

    private func span(_ kind: JSONSpan.Kind, from start: Int) -> JSONSpan {
        JSONSpan(kind: kind, range: start..<position, contentLength: position - start, hasEscapes: false)
    }

    private mutating func take(_ character: Character) -> Bool {
        skipWhiteSpace()
        guard position < end, bytes[position] == character.asciiValue else { return false }
        position += 1
        return true
    }

    private mutating func skipWhiteSpace() {
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }

    func unexpected(_ place: String) -> JSONSyntaxError {
        guard position < end else { return JSONSyntaxError(message: "The text ends \(place)", offset: position) }
        return JSONSyntaxError(message: "Unexpected character \(place)", offset: position)
    }
}

/// Whether bytes are well-formed UTF-8; ASCII is found eight bytes at a time.
private func isUTF8(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(bytes)
    var position = 0
    while position + 8 <= raw.count {
        if raw.loadUnaligned(fromByteOffset: position, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { break }
        position += 8
    }
    let rest = raw[position...]
    if rest.allSatisfy({ $0 < 0x80 }) { return true }
    return String(validating: rest, as: UTF8.self) != nil
}
