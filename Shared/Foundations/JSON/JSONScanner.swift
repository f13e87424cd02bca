/// A strict scanner of JSON text (RFC 8259, strings as in I-JSON) that finds the place of each value and builds no
/// tree.
///
/// A payload must be returned exactly as it was sent: the digits of numbers, `null`, the order of members, escapes.
/// Foundation's decoder keeps none of that, hides repeated members, and costs several times as much. This scanner only
/// checks the grammar and finds where each value is, so that the payload can be kept as its bytes.
///
/// It refuses everything that RFC 8259 forbids, text that is not UTF-8, unpaired surrogates (RFC 7493, section 2.1),
/// and nesting deeper than ``maxDepth``.
///
/// Decision: docs/decisions/0008-payload-bytes-are-exact.md
package struct JSONScanner: ~Copyable {
    /// How deep arrays and objects may nest.
    package static let maxDepth = 128

    private let bytes: UnsafeBufferPointer<UInt8>
    fileprivate var position: Int
    private let end: Int

    /// A scanner of one range of a text, or of all of it. The pointer must outlive the scanner.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, range: Range<Int>? = nil) {
        self.bytes = bytes
        position = range?.lowerBound ?? 0
        end = range?.upperBound ?? bytes.count
    }

    /// Reads a text that consists of one value.
    ///
    /// - Throws: ``JSONSyntaxError`` for any other text.
    package mutating func document() throws(JSONSyntaxError) -> JSONSpan {
        guard isUTF8(bytes) else {
            throw JSONSyntaxError(message: "The text is not UTF-8", offset: firstInvalidByte(bytes))
        }
        // RFC 8259, 8.1: a text must not begin with one.
        if position < end, bytes[position] == OutsideText.byteOrderMark[0],
            bytes[position..<end].starts(with: OutsideText.byteOrderMark)
        {
            throw JSONSyntaxError(message: "There is a byte order mark (U+FEFF) before the value", offset: position)
        }
        let span = try value(depth: 0)
        skipWhiteSpace()
        guard position == end else { throw unexpected("after the value") }
        return span
    }

    /// Reads one value and the white space before it.
    fileprivate mutating func value(depth: Int) throws(JSONSyntaxError) -> JSONSpan {
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

    /// Reads an object and calls the closure with each name and value in their order, repeated ones too.
    package mutating func members(
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

    /// Reads an array and calls the closure with each element in its order.
    package mutating func elements(
        depth: Int = 0, _ body: (_ element: JSONSpan) -> Void
    ) throws(JSONSyntaxError) {
        try enter("[", depth: depth)
        if take("]") { return }
        repeat { body(try value(depth: depth + 1)) } while take(",")
        guard take("]") else { throw unexpected("where ',' or ']' is expected") }
    }

    private mutating func enter(_ bracket: Unicode.Scalar, depth: Int) throws(JSONSyntaxError) {
        guard depth < JSONScanner.maxDepth else {
            throw JSONSyntaxError(message: "Nested deeper than \(JSONScanner.maxDepth)", offset: position)
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

    fileprivate mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipWhiteSpace()
        guard position < end, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    fileprivate mutating func skipWhiteSpace() {
        while position < end {
            switch bytes[position] {
            case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): position += 1
            default: return
            }
        }
    }

    private func unexpected(_ place: String) -> JSONSyntaxError {
        guard position < end else { return JSONSyntaxError(message: "The text ends \(place)", offset: position) }
        return JSONSyntaxError(message: "Unexpected character \(place)", offset: position)
    }
}

/// Whether bytes are well-formed UTF-8. ASCII is checked eight bytes at a time.
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

/// The offset of the first byte that is not part of well-formed UTF-8.
private func firstInvalidByte(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var decoder = UTF8.ForwardParser()
    var input = bytes.makeIterator()
    var offset = 0
    while case .valid(let scalar) = decoder.parseScalar(from: &input) { offset += scalar.count }
    return offset
}

extension JSONScanner {
    /// Reads a string, checks its escapes and measures its content.
    fileprivate mutating func string() throws(JSONSyntaxError) -> JSONSpan {
        let start = position
        var length = 0
        var hasEscapes = false
        position += 1
        while true {
            let plain = position
            skipPlainWords()
            length += position - plain
            guard position < end else { throw unexpected("within a string") }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return JSONSpan(
                    kind: .string, range: start..<position, contentLength: length, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                length += UTF8.width(try escape())
            case 0..<0x20:
                throw JSONSyntaxError(message: "A control character within a string", offset: position)
            default:
                position += 1
                length += 1
            }
        }
    }

    /// Skips a string's bytes, eight at a time, up to a word with a quotation mark, a backslash or a control character.
    private mutating func skipPlainWords() {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let raw = UnsafeRawBufferPointer(bytes)
        while position + 8 <= end {
            let word = raw.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            let (quotation, backslash) = (word ^ 0x22 &* ones, word ^ 0x5C &* ones)
            // The highest bit of a byte is set where the byte is less than 0x20, or 0 after the exclusive or. A borrow can
            // set it for the next byte too, which is then looked at by itself.
            let control = (word &- 0x20 &* ones) & ~word
            let special = control | (quotation &- ones) & ~quotation | (backslash &- ones) & ~backslash
            guard special & (0x80 &* ones) == 0 else { return }
            position += 8
        }
    }

    /// The text of a string that a scanner of this text has found, with its escapes resolved.
    package func text(of span: JSONSpan) -> String {
        let content = span.range.lowerBound + 1..<span.range.upperBound - 1
        if !span.hasEscapes { return String(decoding: UnsafeBufferPointer(rebasing: bytes[content]), as: UTF8.self) }
        var result: [UInt8] = []
        result.reserveCapacity(span.contentLength)
        var scanner = JSONScanner(bytes, range: content)
        while scanner.position < scanner.end {
            if scanner.bytes[scanner.position] != UInt8(ascii: "\\") {
                result.append(scanner.bytes[scanner.position])
                scanner.position += 1
            } else if let scalar = try? scanner.escape(), let encoded = UTF8.encode(scalar) {
                result.append(contentsOf: encoded)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The bytes of a value exactly as they are in the text.
    package func bytes(of span: JSONSpan) -> [UInt8] {
        Array(UnsafeBufferPointer(rebasing: bytes[span.range]))
    }

    /// Reads an escape; a pair of `\uXXXX` surrogates is one scalar.
    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard position < end else { throw unexpected("within a string") }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hexQuad()
            if let scalar = Unicode.Scalar(first) { return scalar }
            if first < 0xDC00, position + 1 < end, bytes[position] == UInt8(ascii: "\\"),
                bytes[position + 1] == UInt8(ascii: "u")
            {
                position += 2
                let second = try hexQuad()
                if (0xDC00...0xDFFF).contains(second),
                    let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
                {
                    return scalar
                }
            }
            throw JSONSyntaxError(message: "An unpaired surrogate within a string", offset: start)
        default:
            throw JSONSyntaxError(message: "An unknown escape within a string", offset: start)
        }
    }

    private mutating func hexQuad() throws(JSONSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < end, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue,
                bytes[position] < 0x80
            else { throw unexpected("within an escape") }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}

/// The place of a value in a JSON text (RFC 8259), and its kind.
package struct JSONSpan: Sendable, Hashable {
    package enum Kind: String, Sendable {
        case object, array, string, number, boolean, null

        /// The kind with its article, for error messages.
        package var phrase: String {
            switch self {
            case .object: "an object"
            case .array: "an array"
            case .string: "a string"
            case .number: "a number"
            case .boolean: "a boolean"
            case .null: "null"
            }
        }
    }

    package let kind: Kind
    /// The bytes of the value in its text, with quotation marks or brackets, and without the white space around it.
    package let range: Range<Int>
    /// The length of a string in UTF-8 with its escapes resolved; for another value the length of the range.
    package let contentLength: Int
    let hasEscapes: Bool
}

/// Why a text is not JSON.
package struct JSONSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The error, without any part of the text.
    package let message: String
    /// The offset of the offending byte.
    package let offset: Int

    package var description: String { "\(message) at byte \(offset)" }
}

/// The elements of an array in a text that a scanner has checked. They are found one by one, because a list of them
/// would take up to 24 times the memory of the text.
package struct JSONElements: Sequence, IteratorProtocol {
    private var cursor: JSONCursor

    init(of array: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>) { cursor = JSONCursor(array, bytes) }

    /// The next element; `nil` at the end.
    package mutating func next() -> JSONSpan? {
        cursor.step { scanner in try? scanner.value(depth: 0) }
    }

    /// Whether there is no element.
    package var isEmpty: Bool { first { _ in true } == nil }
}

/// The members of an object in a text that a scanner has checked, found one by one, repeated ones too.
struct JSONMembers: Sequence, IteratorProtocol {
    private var cursor: JSONCursor

    /// - Parameter offset: where the first of the members begins; `nil` for all of the object.
    init(of object: JSONSpan, from offset: Int? = nil, in bytes: UnsafeBufferPointer<UInt8>) {
        cursor = JSONCursor(object, bytes, from: offset)
    }

    mutating func next() -> (name: JSONSpan, value: JSONSpan)? {
        cursor.step { scanner in
            guard let name = try? scanner.string(), scanner.take(":"), let value = try? scanner.value(depth: 0) else {
                return nil
            }
            return (name, value)
        }
    }
}

/// The rest of an array or object in a text that a scanner has checked.
private struct JSONCursor {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position: Int
    /// The place of the closing bracket.
    private let end: Int

    init(_ span: JSONSpan, _ bytes: UnsafeBufferPointer<UInt8>, from offset: Int? = nil) {
        self.bytes = bytes
        position = offset ?? span.range.lowerBound + 1
        end = span.range.upperBound - 1
    }

    /// Reads one more item; `nil` at the end.
    mutating func step<Item>(_ read: (inout JSONScanner) -> Item?) -> Item? {
        var scanner = JSONScanner(bytes, range: position..<end)
        _ = scanner.take(",")
        scanner.skipWhiteSpace()
        guard scanner.position < end, let item = read(&scanner) else { return nil }
        position = scanner.position
        return item
    }
}
