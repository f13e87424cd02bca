public import Foundation

/// JSON that means the same to every reader: RFC 8259 in UTF-8, without a byte order mark, without repeated names at any
/// level, without lone surrogates, and at most ``maxDepth`` levels deep.
///
/// The text is checked as a whole at the beginning. Values are found in it in place, without a tree, so a large text is
/// in memory once, and numbers keep their digits.
public struct StrictJSON: Sendable {
    /// The text is not such JSON. The error says nothing of the text.
    public struct Malformed: Error, Sendable {}

    /// How deep arrays and objects may nest; the outermost one is the first level.
    public static let maxDepth = 32

    private let scanner: StrictJSONScanner
    private let span: Range<Int>

    /// Checks a text.
    ///
    /// - Parameter text: bytes, such as `Data` or the `utf8` of a string.
    /// - Throws: ``Malformed``.
    public init(_ text: some Sequence<UInt8>) throws(Malformed) {
        let scanner = StrictJSONScanner(bytes: Array(text))
        do {
            guard String(bytes: scanner.bytes, encoding: .utf8) != nil else { throw Malformed() }
            let start = scanner.skipBlanks(0)
            let end = try scanner.value(start, depth: 0)
            guard scanner.skipBlanks(end) == scanner.bytes.count else { throw Malformed() }
            self.init(scanner: scanner, span: start..<end)
        } catch {
            throw Malformed()
        }
    }

    private init(scanner: StrictJSONScanner, span: Range<Int>) { (self.scanner, self.span) = (scanner, span) }

    private var first: UInt8 { scanner.bytes[span.lowerBound] }

    /// The text of the value, as it was written.
    public var json: Data { Data(scanner.bytes[span]) }

    public var isNull: Bool { first == UInt8(ascii: "n") }

    public var boolean: Bool? {
        switch first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// A number as it was written.
    public var number: String? {
        guard first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) else { return nil }
        return String(decoding: scanner.bytes[span], as: UTF8.self)
    }

    /// The value of a string.
    public var text: String? {
        guard first == UInt8(ascii: "\"") else { return nil }
        return (try? scanner.unescape(span)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The elements of an array.
    public var elements: [StrictJSON]? {
        guard first == UInt8(ascii: "[") else { return nil }
        var elements: [StrictJSON] = []
        _ = try? scanner.array(span.lowerBound, depth: nil) { elements.append(.init(scanner: scanner, span: $0)) }
        return elements
    }

    /// The members of an object, in the order of the text.
    public var members: [(name: String, value: StrictJSON)]? {
        guard first == UInt8(ascii: "{") else { return nil }
        var members: [(name: String, value: StrictJSON)] = []
        _ = try? scanner.object(span.lowerBound, depth: nil) { name, value in
            let name = String(decoding: try scanner.unescape(name), as: UTF8.self)
            members.append((name, StrictJSON(scanner: scanner, span: value)))
        }
        return members
    }

    /// A member of an object, whose name is compared byte for byte after unescaping.
    public subscript(name: String) -> StrictJSON? {
        guard first == UInt8(ascii: "{") else { return nil }
        var found: StrictJSON?
        _ = try? scanner.object(span.lowerBound, depth: nil) { candidate, value in
            if try scanner.unescape(candidate).elementsEqual(name.utf8) { found = .init(scanner: scanner, span: value) }
        }
        return found
    }
}

/// Walks JSON text. With a depth it checks everything; without one it walks text that was checked.
private struct StrictJSONScanner: Sendable {
    typealias Malformed = StrictJSON.Malformed

    let bytes: [UInt8]

    private func byte(_ position: Int) -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private func has(_ character: Unicode.Scalar, at position: Int) -> Bool {
        byte(position) == UInt8(ascii: character)
    }

    func skipBlanks(_ start: Int) -> Int {
        var position = start
        while let byte = byte(position), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        return position
    }

    /// The end of a value.
    ///
    /// - Parameter depth: the number of arrays and objects around it; `nil` if the text was checked.
    func value(_ start: Int, depth: Int?) throws -> Int {
        switch byte(start) {
        case UInt8(ascii: "\""): return try string(start, depth: depth)
        case UInt8(ascii: "{"): return try object(start, depth: depth)
        case UInt8(ascii: "["): return try array(start, depth: depth)
        case UInt8(ascii: "t"): return try word("true", start)
        case UInt8(ascii: "f"): return try word("false", start)
        case UInt8(ascii: "n"): return try word("null", start)
        default: return try number(start)
        }
    }

    func array(_ start: Int, depth: Int?, _ visit: (Range<Int>) throws -> Void = { _ in }) throws -> Int {
        let inner = try deeper(depth)
        var position = skipBlanks(start + 1)
        if has("]", at: position) { return position + 1 }
        while true {
            let end = try value(position, depth: inner)
            try visit(position..<end)
            position = skipBlanks(end)
            if has("]", at: position) { return position + 1 }
            guard has(",", at: position) else { throw Malformed() }
            position = skipBlanks(position + 1)
        }
    }

    func object(
        _ start: Int, depth: Int?, _ visit: (Range<Int>, Range<Int>) throws -> Void = { _, _ in }
    ) throws -> Int {
        let inner = try deeper(depth)
        // Bytes: equal strings of Swift can have different ones.
        var names: Set<[UInt8]> = []
        var position = skipBlanks(start + 1)
        if has("}", at: position) { return position + 1 }
        while true {
            let name = position..<(try string(position, depth: depth))
            if depth != nil, !names.insert(try unescape(name)).inserted { throw Malformed() }
            position = skipBlanks(name.upperBound)
            guard has(":", at: position) else { throw Malformed() }
            position = skipBlanks(position + 1)
            let end = try value(position, depth: inner)
            try visit(name, position..<end)
            position = skipBlanks(end)
            if has("}", at: position) { return position + 1 }
            guard has(",", at: position) else { throw Malformed() }
            position = skipBlanks(position + 1)
        }
    }

    private func deeper(_ depth: Int?) throws -> Int? {
        guard let depth else { return nil }
        guard depth < StrictJSON.maxDepth else { throw Malformed() }
        return depth + 1
    }

    private func word(_ word: StaticString, _ start: Int) throws -> Int {
        let end = start + word.utf8CodeUnitCount
        guard end <= bytes.count, (0..<word.utf8CodeUnitCount).allSatisfy({ word.utf8Start[$0] == bytes[start + $0] })
        else { throw Malformed() }
        return end
    }

    private func number(_ start: Int) throws -> Int {
        var position = has("-", at: start) ? start + 1 : start
        let integer = try digits(position)
        if has("0", at: position), integer > position + 1 { throw Malformed() }
        position = has(".", at: integer) ? try digits(integer + 1) : integer
        guard has("e", at: position) || has("E", at: position) else { return position }
        position += 1
        return try digits(has("+", at: position) || has("-", at: position) ? position + 1 : position)
    }

    private func digits(_ start: Int) throws -> Int {
        var position = start
        while let digit = byte(position), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) { position += 1 }
        guard position > start else { throw Malformed() }
        return position
    }

    private func string(_ start: Int, depth: Int?) throws -> Int {
        guard has("\"", at: start) else { throw Malformed() }
        var position = start + 1
        var hasEscapes = false
        while let next = byte(position) {
            switch next {
            case UInt8(ascii: "\""):
                if depth != nil, hasEscapes { _ = try unescape(start..<position + 1) }
                return position + 1
            case UInt8(ascii: "\\"):
                hasEscapes = true
                position += 2
            case 0..<0x20: throw Malformed()
            default: position += 1
            }
        }
        throw Malformed()
    }

    /// The value of a string with its quotation marks.
    func unescape(_ span: Range<Int>) throws -> [UInt8] {
        var (result, position) = ([UInt8](), span.lowerBound + 1)
        let end = span.upperBound - 1
        while position < end {
            let byte = bytes[position]
            position += 1
            guard byte == UInt8(ascii: "\\") else {
                result.append(byte)
                continue
            }
            guard position < end else { throw Malformed() }
            let letter = bytes[position]
            position += 1
            guard letter == UInt8(ascii: "u") else {
                guard let value = Self.escapes[letter] else { throw Malformed() }
                result.append(value)
                continue
            }
            var unit = try hexadecimal(&position, end)
            if (0xD800..<0xDC00).contains(unit) {
                guard position + 1 < end, has("\\", at: position), has("u", at: position + 1) else { throw Malformed() }
                position += 2
                let low = try hexadecimal(&position, end)
                guard (0xDC00..<0xE000).contains(low) else { throw Malformed() }
                unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
            }
            // The rest of the surrogates are no scalars.
            guard let scalar = Unicode.Scalar(unit) else { throw Malformed() }
            result.append(contentsOf: UTF8.encode(scalar).map { Array($0) } ?? [])
        }
        return result
    }

    private func hexadecimal(_ position: inout Int, _ end: Int) throws -> UInt32 {
        guard position + 4 <= end else { throw Malformed() }
        var value: UInt32 = 0
        for digit in bytes[position..<position + 4] {
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
