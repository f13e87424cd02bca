/// Reads JSON (RFC 8259) strictly: no repeated names, no lone surrogates, nothing after the value, at most 16 levels.
///
/// Foundation's decoder takes repeated names and keeps one of them; a token must have one meaning for everyone
/// (RFC 7519, section 4; RFC 8725, section 2.4).
struct JSONReader {
    struct Malformed: Error {}

    private var rest: ArraySlice<UInt8>
    private var depth = 0
    private static let maximumDepth = 16
    private static let maximumMembers = 256

    /// The object that the bytes are the JSON of.
    static func object(_ bytes: [UInt8]) throws(Malformed) -> JSONObject {
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Malformed() }
        var reader = JSONReader(rest: bytes[...])
        let value = try reader.value()
        reader.skipBlanks()
        guard reader.rest.isEmpty, case .object(let object) = value else { throw Malformed() }
        return object
    }

    private init(rest: ArraySlice<UInt8>) { self.rest = rest }

    private mutating func value() throws(Malformed) -> JSONValue {
        skipBlanks()
        switch rest.first {
        case UInt8(ascii: "{"): return .object(try object())
        case UInt8(ascii: "["): return .array(try array())
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object() throws(Malformed) -> JSONObject {
        try enter()
        var object = JSONObject()
        if take(UInt8(ascii: "}")) { return leave(object) }
        repeat {
            skipBlanks()
            let name = try string()
            guard take(UInt8(ascii: ":")), object.members.count < Self.maximumMembers,
                object.insert(name, try value())
            else { throw Malformed() }
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw Malformed() }
        return leave(object)
    }

    private mutating func array() throws(Malformed) -> [JSONValue] {
        try enter()
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return leave(elements) }
        repeat { elements.append(try value()) } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw Malformed() }
        return leave(elements)
    }

    private mutating func enter() throws(Malformed) {
        depth += 1
        guard depth <= Self.maximumDepth else { throw Malformed() }
        rest.removeFirst()
    }

    private mutating func leave<Value>(_ value: Value) -> Value {
        depth -= 1
        return value
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Malformed) -> JSONValue {
        guard rest.starts(with: word.utf8) else { throw Malformed() }
        rest.removeFirst(word.utf8.count)
        return value
    }

    private mutating func number() throws(Malformed) -> Double {
        let start = rest
        _ = takeByte(UInt8(ascii: "-"))
        if !takeByte(UInt8(ascii: "0")) { try digits() }
        if takeByte(UInt8(ascii: ".")) { try digits() }
        if takeByte(UInt8(ascii: "e")) || takeByte(UInt8(ascii: "E")) {
            if !takeByte(UInt8(ascii: "-")) { _ = takeByte(UInt8(ascii: "+")) }
            try digits()
        }
        let text = String(decoding: start[start.startIndex..<rest.startIndex], as: UTF8.self)
        guard let number = Double(text), number.isFinite else { throw Malformed() }
        return number
    }

    private mutating func digits() throws(Malformed) {
        let count = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
        guard count > 0 else { throw Malformed() }
        rest.removeFirst(count)
    }

    private mutating func string() throws(Malformed) -> String {
        guard takeByte(UInt8(ascii: "\"")) else { throw Malformed() }
        var text: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): text += try escaped()
            case 0..<0x20: throw Malformed()
            default: text.append(byte)
            }
        }
        throw Malformed()
    }

    private mutating func escaped() throws(Malformed) -> [UInt8] {
        switch rest.popFirst() {
        case UInt8(ascii: "\""): return [UInt8(ascii: "\"")]
        case UInt8(ascii: "\\"): return [UInt8(ascii: "\\")]
        case UInt8(ascii: "/"): return [UInt8(ascii: "/")]
        case UInt8(ascii: "b"): return [8]
        case UInt8(ascii: "f"): return [12]
        case UInt8(ascii: "n"): return [10]
        case UInt8(ascii: "r"): return [13]
        case UInt8(ascii: "t"): return [9]
        case UInt8(ascii: "u"): return [UInt8](String(try escapedScalar()).utf8)
        default: throw Malformed()
        }
    }

    private mutating func escapedScalar() throws(Malformed) -> Unicode.Scalar {
        var code = try fourHexDigits()
        if (0xD800..<0xDC00).contains(code) {
            guard takeByte(UInt8(ascii: "\\")), takeByte(UInt8(ascii: "u")) else { throw Malformed() }
            let low = try fourHexDigits()
            guard (0xDC00..<0xE000).contains(low) else { throw Malformed() }
            code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(code) else { throw Malformed() }
        return scalar
    }

    private mutating func fourHexDigits() throws(Malformed) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = rest.popFirst(), let digit = Unicode.Scalar(byte).hexDigit else { throw Malformed() }
            code = code << 4 | digit
        }
        return code
    }

    private mutating func skipBlanks() {
        while let byte = rest.first, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
            rest.removeFirst()
        }
    }

    /// Takes a sign between values.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        return takeByte(byte)
    }

    private mutating func takeByte(_ byte: UInt8) -> Bool {
        guard rest.first == byte else { return false }
        rest.removeFirst()
        return true
    }
}

extension Unicode.Scalar {
    fileprivate var hexDigit: UInt32? {
        switch self {
        case "0"..."9": value - 48
        case "a"..."f": value - 87
        case "A"..."F": value - 55
        default: nil
        }
    }
}
