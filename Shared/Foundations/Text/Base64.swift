/// Base64 (RFC 4648), decoded strictly: there is exactly one text for each value.
///
/// Foundation's decoder ignores bits that the last digit has beyond the last byte. A token with such a digit changed
/// would be a different text with the same signature.
package enum Base64 {
    /// The digits and the padding of a text.
    package enum Alphabet: Sendable {
        /// `+` and `/`, padded with `=`.
        case standard
        /// `+` and `/`, without padding: the form of password hashes (PHC string format).
        case unpadded
        /// `-` and `_`, without padding: the form of JSON Web Tokens (RFC 7515, section 2).
        case url
    }

    /// Decodes a text.
    ///
    /// - Returns: `nil` unless the text is equal to the value's ``encode(_:_:)``.
    package static func decode(_ text: some StringProtocol, _ alphabet: Alphabet) -> [UInt8]? {
        var digits = [UInt8](text.utf8)
        if alphabet == .standard {
            guard digits.count % 4 == 0 else { return nil }
            for _ in 0..<2 where digits.last == UInt8(ascii: "=") { digits.removeLast() }
        }
        guard digits.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count * 3 / 4)
        var bits: UInt32 = 0
        var count = 0
        for digit in digits {
            guard let value = value(digit, alphabet) else { return nil }
            bits = bits << 6 | value
            count += 6
            if count >= 8 {
                count -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
            }
        }
        return bits & (1 << UInt32(count) - 1) == 0 ? bytes : nil
    }

    package static func encode(_ bytes: some Sequence<UInt8>, _ alphabet: Alphabet) -> String {
        var digits: [UInt8] = []
        digits.reserveCapacity((bytes.underestimatedCount + 2) / 3 * 4)
        var bits: UInt32 = 0
        var count = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            count += 8
            while count >= 6 {
                count -= 6
                digits.append(digit(bits >> UInt32(count) & 63, alphabet))
            }
        }
        if count > 0 { digits.append(digit(bits << UInt32(6 - count) & 63, alphabet)) }
        while alphabet == .standard, digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func value(_ digit: UInt8, _ alphabet: Alphabet) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) + 4
        case alphabet == .url ? UInt8(ascii: "-") : UInt8(ascii: "+"): 62
        case alphabet == .url ? UInt8(ascii: "_") : UInt8(ascii: "/"): 63
        default: nil
        }
    }

    private static func digit(_ value: UInt32, _ alphabet: Alphabet) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return switch value {
        case 0..<26: value + 65
        case 26..<52: value + 71
        case 52..<62: value - 4
        case 62: alphabet == .url ? UInt8(ascii: "-") : UInt8(ascii: "+")
        default: alphabet == .url ? UInt8(ascii: "_") : UInt8(ascii: "/")
        }
    }
}
