/// The bytes of a document and a position in them: the lexical half of `XMLReader`.
struct XMLInput {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The characters of XML 1.0, production 2.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    var isAtEnd: Bool { index >= bytes.count }
    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    func error(_ reason: String) -> XMLReaderError { XMLReaderError(reason: reason, offset: index) }

    mutating func advance() { index += 1 }

    mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// - Returns: whether there was a blank.
    @discardableResult
    mutating func skipBlanks() -> Bool {
        let start = index
        while index < bytes.count, [0x20, 0x9, 0xA, 0xD].contains(bytes[index]) { index += 1 }
        return index > start
    }

    /// Takes a fixed text when it comes next.
    mutating func take(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            guard bytes.count - index >= expected.count, bytes[index..<index + expected.count].elementsEqual(expected)
            else { return false }
            index += expected.count
            return true
        }
    }

    /// Everything up to a fixed text, which is taken too.
    mutating func text(until end: StaticString) throws(XMLReaderError) -> String {
        let start = index
        while index < bytes.count {
            let stop = index
            if take(end) { return Self.normalized(bytes[start..<stop]) }
            index += 1
        }
        throw error("ends inside a section")
    }

    /// Text with its references replaced, up to a byte that is not taken.
    mutating func characters(until end: UInt8) throws(XMLReaderError) -> String {
        var result = ""
        var start = index
        while index < bytes.count, bytes[index] != end {
            if bytes[index] == UInt8(ascii: "&") {
                result += Self.normalized(bytes[start..<index])
                index += 1
                result.unicodeScalars.append(try reference())
                start = index
            } else if bytes[index] == UInt8(ascii: "<") {
                throw error("has a < inside a value")
            } else {
                index += 1
            }
        }
        guard index < bytes.count else { throw error("ends too early") }
        return result + Self.normalized(bytes[start..<index])
    }

    /// The rest of a reference whose `&` is read.
    private mutating func reference() throws(XMLReaderError) -> Unicode.Scalar {
        guard let length = bytes[index...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw error("has a reference that does not end")
        }
        let name = String(decoding: bytes[index..<length], as: UTF8.self)
        index = length + 1
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard name.hasPrefix("#") else { throw error("uses an entity that is not known") }
        let isHex = name.hasPrefix("#x")
        let digits = name.dropFirst(isHex ? 2 : 1)
        guard digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: isHex ? 16 : 10),
            let scalar = Unicode.Scalar(value), Self.isAllowed(scalar)
        else { throw error("has a character reference that is not valid") }
        return scalar
    }

    /// A name, prefix included.
    mutating func name() throws(XMLReaderError) -> String {
        let start = index
        while index < bytes.count, Self.isNameByte(bytes[index], isFirst: index == start) { index += 1 }
        guard index > start else { throw error("has a name that is not valid") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), 0x80...:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        default: false
        }
    }

    /// Line ends as XML wants them: `\n` alone.
    private static func normalized(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(0xD) else { return String(decoding: bytes, as: UTF8.self) }
        var result: [UInt8] = []
        for (offset, byte) in zip(bytes.indices, bytes) {
            if byte == 0xD {
                result.append(0xA)
            } else if byte != 0xA || offset == bytes.startIndex || bytes[offset - 1] != 0xD {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
