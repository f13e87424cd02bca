import Foundation

/// Reads JSON (RFC 8259) in place: it finds the members of an object without building a tree, so that the text of a
/// payload is kept exactly as it came, large numbers included, and is in memory once.
///
/// It is strict, as the server is: UTF-8 without a byte order mark, no escape of half a surrogate pair, no repeated names
/// in the objects that it is asked for. Payloads may be deeper than ``StrictJSON`` allows, so it is not used here.
struct AnswerReader {
    /// The text is not JSON, or not in the expected form.
    struct Malformed: Error {}

    /// The members of an object.
    typealias Members = [Name: Range<Int>]

    /// The name of a member, compared byte for byte: to Swift, `é` as one character and as `e` with an accent are equal.
    struct Name: Sendable, Hashable, ExpressibleByStringLiteral {
        let text: String

        init(text: String) { self.text = text }
        init(stringLiteral text: String) { self.text = text }

        static func == (left: Name, right: Name) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private let bytes: UnsafeRawBufferPointer

    /// Reads the value that a text consists of.
    ///
    /// - Throws: ``Malformed``, and the errors of the closure.
    static func read<Result>(_ data: Data, _ body: (AnswerReader, Range<Int>) throws -> Result) throws -> Result {
        try data.withUnsafeBytes { bytes in
            guard UTF8Text.isValid(bytes) else { throw Malformed() }
            let reader = AnswerReader(bytes: bytes)
            let start = reader.skipBlanks(0)
            let end = try reader.skipValue(start, depth: 0)
            guard reader.skipBlanks(end) == bytes.count else { throw Malformed() }
            return try body(reader, start..<end)
        }
    }

    /// The members of an object. Repeated names are malformed.
    func members(_ span: Range<Int>) throws -> Members {
        guard byte(span.lowerBound) == UInt8(ascii: "{") else { throw Malformed() }
        var members: Members = [:]
        try forEach(in: span) { position in
            let nameEnd = try skipString(position)
            let name = Name(text: try string(position..<nameEnd))
            let colon = skipBlanks(nameEnd)
            let start = skipBlanks(colon + 1)
            let end = try skipValue(start, depth: 1)
            guard members.updateValue(start..<end, forKey: name) == nil else { throw Malformed() }
            return end
        }
        return members
    }

    /// The elements of an array.
    func elements(_ span: Range<Int>, atMost limit: Int) throws -> [Range<Int>] {
        guard byte(span.lowerBound) == UInt8(ascii: "[") else { throw Malformed() }
        var elements: [Range<Int>] = []
        try forEach(in: span) { position in
            let end = try skipValue(position, depth: 1)
            guard elements.count < limit else { throw Malformed() }
            elements.append(position..<end)
            return end
        }
        return elements
    }

    /// The text of a value.
    func json(_ span: Range<Int>) -> String {
        String(decoding: UnsafeRawBufferPointer(rebasing: bytes[span]), as: UTF8.self)
    }

    func boolean(_ span: Range<Int>) throws -> Bool {
        switch span.count <= 5 ? json(span) : "" {
        case "true": return true
        case "false": return false
        default: throw Malformed()
        }
    }

    /// A number from 0 to a million.
    func count(_ span: Range<Int>) throws -> Int {
        guard span.count <= 7, let number = Int(json(span)), (0...1_000_000).contains(number) else {
            throw Malformed()
        }
        return number
    }

    func isString(_ span: Range<Int>) -> Bool { byte(span.lowerBound) == UInt8(ascii: "\"") }

    /// The value of a string.
    func string(_ span: Range<Int>) throws -> String {
        guard isString(span), span.count >= 2 else { throw Malformed() }
        let inner = UnsafeRawBufferPointer(rebasing: bytes[span.lowerBound + 1..<span.upperBound - 1])
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        return String(decoding: try Self.unescape(inner), as: UTF8.self)
    }

    // MARK: Walking

    /// Calls the closure with the start of each member or element; it returns the end.
    private func forEach(in span: Range<Int>, _ body: (Int) throws -> Int) throws {
        var position = skipBlanks(span.lowerBound + 1)
        while position < span.upperBound - 1 {
            position = skipBlanks(try body(position))
            if byte(position) == UInt8(ascii: ",") { position = skipBlanks(position + 1) }
        }
    }

    private func byte(_ position: Int) -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private func skipBlanks(_ start: Int) -> Int {
        var position = start
        while let byte = byte(position), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        return position
    }

    /// Checks a value, and returns its end.
    private func skipValue(_ start: Int, depth: Int) throws -> Int {
        switch byte(start) {
        case UInt8(ascii: "\""): return try skipString(start)
        case UInt8(ascii: "{"): return try skipContainer(start, until: UInt8(ascii: "}"), depth: depth)
        case UInt8(ascii: "["): return try skipContainer(start, until: UInt8(ascii: "]"), depth: depth)
        case UInt8(ascii: "t"): return try skipWord("true", start)
        case UInt8(ascii: "f"): return try skipWord("false", start)
        case UInt8(ascii: "n"): return try skipWord("null", start)
        default: return try skipNumber(start)
        }
    }

    private func skipContainer(_ start: Int, until end: UInt8, depth: Int) throws -> Int {
        guard depth < Self.maxDepth else { throw Malformed() }
        var position = skipBlanks(start + 1)
        if byte(position) == end { return position + 1 }
        while true {
            if end == UInt8(ascii: "}") {
                position = skipBlanks(try skipString(position))
                guard byte(position) == UInt8(ascii: ":") else { throw Malformed() }
                position = skipBlanks(position + 1)
            }
            position = skipBlanks(try skipValue(position, depth: depth + 1))
            guard let next = byte(position) else { throw Malformed() }
            if next == end { return position + 1 }
            guard next == UInt8(ascii: ",") else { throw Malformed() }
            position = skipBlanks(position + 1)
        }
    }

    private func skipWord(_ word: StaticString, _ start: Int) throws -> Int {
        let end = start + word.utf8CodeUnitCount
        guard end <= bytes.count, (0..<word.utf8CodeUnitCount).allSatisfy({ word.utf8Start[$0] == bytes[start + $0] })
        else { throw Malformed() }
        return end
    }

    /// The server's payloads are at most 128 deep; the answer adds three levels.
    private static let maxDepth = 160
}

extension AnswerReader {
    private func skipString(_ start: Int) throws -> Int {
        guard byte(start) == UInt8(ascii: "\"") else { throw Malformed() }
        var position = start + 1
        while let next = byte(position) {
            switch next {
            case UInt8(ascii: "\""): return position + 1
            case UInt8(ascii: "\\"): position = try skipEscape(position + 1)
            case 0..<0x20: throw Malformed()
            default: position += 1
            }
        }
        throw Malformed()
    }

    /// Checks an escape after its backslash.
    private func skipEscape(_ start: Int) throws -> Int {
        guard let escape = byte(start) else { throw Malformed() }
        guard escape == UInt8(ascii: "u") else {
            guard Self.escapes[escape] != nil else { throw Malformed() }
            return start + 1
        }
        var position = start + 1
        _ = try Self.scalar(bytes, &position)
        return position
    }

    private func skipNumber(_ start: Int) throws -> Int {
        var position = start
        if byte(position) == UInt8(ascii: "-") { position += 1 }
        let integer = try skipDigits(position)
        if byte(position) == UInt8(ascii: "0"), integer > position + 1 { throw Malformed() }
        position = integer
        if byte(position) == UInt8(ascii: ".") { position = try skipDigits(position + 1) }
        if byte(position) == UInt8(ascii: "e") || byte(position) == UInt8(ascii: "E") {
            position += 1
            if byte(position) == UInt8(ascii: "+") || byte(position) == UInt8(ascii: "-") { position += 1 }
            position = try skipDigits(position)
        }
        return position
    }

    private func skipDigits(_ start: Int) throws -> Int {
        var position = start
        while let digit = byte(position), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) { position += 1 }
        guard position > start else { throw Malformed() }
        return position
    }

    /// Replaces the escapes of a string that was checked.
    private static func unescape(_ text: UnsafeRawBufferPointer) throws -> [UInt8] {
        var (result, position): ([UInt8], Int) = ([], 0)
        result.reserveCapacity(text.count)
        while position < text.count {
            let byte = text[position]
            position += 1
            guard byte == UInt8(ascii: "\\"), position < text.count else {
                result.append(byte)
                continue
            }
            let escape = text[position]
            position += 1
            if escape == UInt8(ascii: "u") {
                result.append(contentsOf: String(Character(try scalar(text, &position))).utf8)
            } else {
                guard let value = escapes[escape] else { throw Malformed() }
                result.append(value)
            }
        }
        return result
    }

    /// The character of an escape, after its `u`, or of two escapes that are a surrogate pair.
    private static func scalar(_ text: UnsafeRawBufferPointer, _ position: inout Int) throws -> Unicode.Scalar {
        let unit = try hexadecimal(text, &position)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00, position + 1 < text.count, text[position] == UInt8(ascii: "\\"),
            text[position + 1] == UInt8(ascii: "u")
        else { throw Malformed() }
        position += 2
        let low = try hexadecimal(text, &position)
        guard (0xDC00..<0xE000).contains(low),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
        else { throw Malformed() }
        return scalar
    }

    private static func hexadecimal(_ text: UnsafeRawBufferPointer, _ position: inout Int) throws -> UInt32 {
        guard position + 4 <= text.count else { throw Malformed() }
        var value: UInt32 = 0
        for digit in text[position..<position + 4] {
            guard let number = Character(Unicode.Scalar(digit)).hexDigitValue else { throw Malformed() }
            value = value << 4 | UInt32(number)
        }
        position += 4
        return value
    }

    private static let escapes: [UInt8: UInt8] = [
        0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09,
    ]
}
