/// Checks the grammar of JSON (RFC 8259) and finds where values begin and end, without reading them: a number may be
/// larger or more exact than any type here could hold.
struct JSONScanner {
    private let bytes: [UInt8]
    private var position = 0
    /// Deeper than any payload is meant to be, and shallow enough for the stack.
    private static let maximumDepth = 256

    init(_ text: String) { bytes = Array(text.utf8) }

    /// Whether the whole text is one value.
    mutating func isValue() -> Bool { value(0) && atEnd() }

    /// The members of an object, names and values as they were written; `nil` when the whole text is no object.
    mutating func members() -> [(name: String, value: String)]? {
        var members: [(name: String, value: String)] = []
        skipSpace()
        guard peek == UInt8(ascii: "{"), object(0, visit: { members.append(($0, $1)) }), atEnd() else { return nil }
        return members
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func atEnd() -> Bool {
        skipSpace()
        return position == bytes.count
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func value(_ depth: Int) -> Bool {
        guard depth < JSONScanner.maximumDepth else { return false }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return object(depth, visit: nil)
        case UInt8(ascii: "["): return array(depth)
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    private mutating func object(_ depth: Int, visit: ((String, String) -> Void)?) -> Bool {
        position += 1
        skipSpace()
        if take("}") { return true }
        repeat {
            skipSpace()
            let nameStart = position
            guard string() else { return false }
            let name = text(nameStart)
            skipSpace()
            guard take(":") else { return false }
            skipSpace()
            let valueStart = position
            guard value(depth + 1) else { return false }
            visit?(name, text(valueStart))
            skipSpace()
        } while take(",")
        return take("}")
    }

    private mutating func array(_ depth: Int) -> Bool {
        position += 1
        skipSpace()
        if take("]") { return true }
        repeat {
            guard value(depth + 1) else { return false }
            skipSpace()
        } while take(",")
        return take("]")
    }

    private mutating func string() -> Bool {
        guard take("\"") else { return false }
        while let byte = peek {
            position += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte < 0x20 { return false }
            if byte == UInt8(ascii: "\\"), !escape() { return false }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard let byte = peek else { return false }
        position += 1
        if byte != UInt8(ascii: "u") { return "\"\\/bfnrt".utf8.contains(byte) }
        for _ in 0..<4 {
            guard let digit = peek, Unicode.Scalar(digit).properties.isASCIIHexDigit else { return false }
            position += 1
        }
        return true
    }

    private mutating func number() -> Bool {
        _ = take("-")
        guard take("0") || digits() else { return false }
        if take("."), !digits() { return false }
        guard take("e") || take("E") else { return true }
        _ = take("+") || take("-")
        return digits()
    }

    private mutating func digits() -> Bool {
        let start = position
        while let byte = peek, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    private mutating func word(_ word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        position += word.utf8.count
        return true
    }

    private func text(_ start: Int) -> String { String(decoding: bytes[start..<position], as: UTF8.self) }
}
