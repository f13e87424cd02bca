import Crypto

extension UserName {
    /// The hub tag that addresses this user's devices, `username:NAME`.
    ///
    /// The tag header of a send is an expression language, and the hub compares tags without regard to case, so NAME
    /// is encoded injectively: `a-z 0-9 _ @ . : -` stand as they are; every other byte of the UTF-8 form is `#` and two
    /// lower-case hex digits; what would pass the hub's 120 characters is `##` and the SHA-256 of the name in hex.
    public var tag: String {
        let prefix = "username:"
        var encoded = [UInt8](prefix.utf8)
        encoded.reserveCapacity(48)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "@"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-"):
                encoded.append(byte)
            default:
                encoded.append(UInt8(ascii: "#"))
                encoded.append(hexDigit(byte >> 4))
                encoded.append(hexDigit(byte & 15))
            }
        }
        if encoded.count > UserName.maximumTagLength {
            return prefix + "##" + SHA256.hash(data: [UInt8](text.utf8)).hex
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The hub's limit for a tag, in characters.
    static let maximumTagLength = 120
}

/// One lower-case hex digit.
func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? nibble + UInt8(ascii: "0") : nibble - 10 + UInt8(ascii: "a")
}

extension Sequence<UInt8> {
    /// The bytes as lower-case hex digits.
    public var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(underestimatedCount * 2)
        for byte in self {
            digits.append(hexDigit(byte >> 4))
            digits.append(hexDigit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}
