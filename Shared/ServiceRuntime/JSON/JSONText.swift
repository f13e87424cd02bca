/// Writes JSON (RFC 8259) into bytes: enough for logs, problems and health answers, and cheaper than an encoder.
struct JSONText {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// Punctuation, numbers and other text that is JSON already.
    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    mutating func number(_ value: some BinaryInteger) { bytes.append(contentsOf: String(value).utf8) }

    /// `"name":`, with a comma before it unless it is the first of its object.
    mutating func member(_ name: String) {
        if let last = bytes.last, last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    mutating func member(_ name: String, _ value: String) {
        member(name)
        string(value)
    }

    /// A string: quotes, backslashes and control characters escaped, the rest as UTF-8.
    mutating func string(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 { escaped(byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            bytes.append(UInt8(ascii: "\\"))
            bytes.append(byte)
        case 0x0A: raw("\\n")
        case 0x0D: raw("\\r")
        case 0x09: raw("\\t")
        case 0..<0x20, 0x7F:
            raw("\\u00")
            bytes.append(JSONText.hexDigits[Int(byte >> 4)])
            bytes.append(JSONText.hexDigits[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
}
