import SecurePushCore

/// Writes JSON (RFC 8259) into bytes: enough for logs, problems and health answers, and cheaper than an encoder.
struct JSONWriter {
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

    /// A string, see `JSONText`.
    mutating func string(_ text: String) { JSONText.append(text, to: &bytes) }
}
