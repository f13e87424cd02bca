import SecurePushCore

/// Writes JSON (RFC 8259) into bytes: enough for logs, problems and answers, and cheaper than an encoder.
public struct JSONWriter {
    public private(set) var bytes: [UInt8] = []

    public init(capacity: Int = 256) { bytes.reserveCapacity(capacity) }

    /// Punctuation, numbers and other text that is JSON already.
    mutating func raw(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Begins an object or array, as a member's value or as an element.
    public mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
    }

    /// Ends an object or array.
    public mutating func close(_ bracket: Unicode.Scalar) { bytes.append(UInt8(ascii: bracket)) }

    public mutating func number(_ value: some BinaryInteger) { bytes.append(contentsOf: String(value).utf8) }

    /// `"name":`, for a value that follows.
    public mutating func member(_ name: String) {
        separate()
        string(name)
        bytes.append(UInt8(ascii: ":"))
    }

    public mutating func member(_ name: String, _ value: String) {
        member(name)
        string(value)
    }

    /// A string, see `JSONText`.
    mutating func string(_ text: String) { JSONText.append(text, to: &bytes) }

    /// A comma, unless this is the first of its object or array, or the value of a member.
    private mutating func separate() {
        switch bytes.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): break
        default: bytes.append(UInt8(ascii: ","))
        }
    }
}
