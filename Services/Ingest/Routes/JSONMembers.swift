import SecurePushCore

/// Writes objects and arrays of a few fixed members (RFC 8259), with the commas where they belong.
struct JSONMembers {
    private(set) var bytes: [UInt8] = []

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// Begins an object or array, as a member's value or as an element.
    mutating func open(_ bracket: Unicode.Scalar) {
        separate()
        bytes.append(UInt8(ascii: bracket))
    }

    mutating func close(_ bracket: Unicode.Scalar) { bytes.append(UInt8(ascii: bracket)) }

    /// `"name":`, for a value that follows.
    mutating func member(_ name: StaticString) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        name.withUTF8Buffer { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: [UInt8(ascii: "\""), UInt8(ascii: ":")])
    }

    mutating func member(_ name: StaticString, _ value: String) {
        member(name)
        JSONText.append(value, to: &bytes)
    }

    mutating func member(_ name: StaticString, number: Int) {
        member(name)
        bytes.append(contentsOf: String(number).utf8)
    }

    /// A comma, unless this is the first of its object or array, or the value of a member.
    private mutating func separate() {
        switch bytes.last {
        case nil, UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: ":"): break
        default: bytes.append(UInt8(ascii: ","))
        }
    }
}
