/// Percent-encoding (RFC 3986, section 2.1) of text as UTF-8.
package enum PercentCoding {
    /// The case of the two hex digits of an escape.
    package enum HexCase: Sendable {
        /// `%2F`, as RFC 3986 recommends.
        case upper
        /// `%2f`.
        case lower
    }

    /// Encodes every byte that is not in a set.
    ///
    /// - Parameters:
    ///   - kept: the bytes that stay as they are. The default is right for one segment of a path, and for a name or
    ///     value of a query.
    ///   - hexCase: the case of the digits that are written.
    package static func encode(
        _ text: some StringProtocol, keeping kept: ByteSet = .unreserved, hexCase: HexCase = .upper
    ) -> String {
        if kept.containsAll(text) { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if kept.contains(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digit(byte >> 4, hexCase))
                bytes.append(digit(byte & 15, hexCase))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Decodes strictly.
    ///
    /// - Parameters:
    ///   - bytes: the encoded text, for example `text.utf8`.
    ///   - plusIsBlank: whether `+` stands for a blank (`application/x-www-form-urlencoded`).
    /// - Returns: `nil` if an escape is incomplete, or if the bytes are not UTF-8.
    package static func decode(_ bytes: some Sequence<UInt8>, plusIsBlank: Bool = false) -> String? {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.underestimatedCount)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+") where plusIsBlank: decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexValue), let low = rest.next().flatMap(hexValue) else {
                    return nil
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        return String(validating: decoded, as: UTF8.self)
    }

    /// Decodes strictly, see ``decode(_:plusIsBlank:)``.
    package static func decode(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String? {
        decode(text.utf8, plusIsBlank: plusIsBlank)
    }

    /// Decodes any text, as Azure does: a malformed escape stays as it is, and bytes that are not UTF-8 are replaced.
    ///
    /// - Parameter plusIsBlank: whether `+` stands for a blank (`application/x-www-form-urlencoded`).
    package static func decodeLeniently(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String {
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            let byte = bytes[position]
            if byte == UInt8(ascii: "%"), position + 2 < bytes.count, let high = hexValue(bytes[position + 1]),
                let low = hexValue(bytes[position + 2])
            {
                decoded.append(high << 4 | low)
                position += 3
            } else {
                decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                position += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Whether a text is the result of ``encode(_:keeping:hexCase:)``: unreserved characters, complete escapes, and at
    /// least one of these.
    package static func isEncoded(_ text: some StringProtocol) -> Bool {
        var escapes = 0
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            if byte == UInt8(ascii: "%") {
                guard rest.next().flatMap(hexValue) != nil, rest.next().flatMap(hexValue) != nil else { return false }
                escapes += 1
            } else if !ByteSet.unreserved.contains(byte) {
                return false
            }
        }
        return escapes > 0
    }

    private static func digit(_ nibble: UInt8, _ hexCase: HexCase) -> UInt8 {
        let digit = hexDigit(nibble)
        return hexCase == .upper && digit >= UInt8(ascii: "a") ? digit & ~0x20 : digit
    }
}

/// A set of ASCII bytes, such as the characters that may stand in a URL as they are.
///
/// The tests of a byte are inlinable, because they run for every byte of a request.
@frozen package struct ByteSet: Sendable, Hashable {
    @usableFromInline var low: UInt64 = 0
    @usableFromInline var high: UInt64 = 0

    /// A set of the bytes of a text.
    ///
    /// - Precondition: the text is ASCII.
    package init(_ characters: String) {
        for byte in characters.utf8 { insert(byte) }
    }

    /// A set of the bytes in a range.
    ///
    /// - Precondition: all of them are ASCII.
    package init(_ range: ClosedRange<UInt8>) {
        for byte in range { insert(byte) }
    }

    private mutating func insert(_ byte: UInt8) {
        precondition(byte < 0x80, "A byte set holds ASCII only.")
        if byte < 64 { low |= 1 << UInt64(byte) } else { high |= 1 << UInt64(byte - 64) }
    }

    /// Whether a byte is in the set; bytes from 0x80 on never are.
    @inlinable package func contains(_ byte: UInt8) -> Bool {
        (byte < 64 ? low >> UInt64(byte) : byte < 0x80 ? high >> UInt64(byte - 64) : 0) & 1 == 1
    }

    /// Whether all bytes of a text are in the set.
    @inlinable package func containsAll(_ text: some StringProtocol) -> Bool { containsAll(text.utf8) }

    /// Whether all bytes are in the set.
    @inlinable package func containsAll(_ bytes: some Sequence<UInt8>) -> Bool {
        // Other modules do not always specialize the loop: over a buffer it is the same for all types.
        bytes.withContiguousStorageIfAvailable(containsAll(in:)) ?? bytes.allSatisfy { contains($0) }
    }

    @usableFromInline func containsAll(in bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.allSatisfy { contains($0) }
    }

    package func union(_ other: ByteSet) -> ByteSet {
        var union = self
        union.low |= other.low
        union.high |= other.high
        return union
    }

    package func subtracting(_ other: ByteSet) -> ByteSet {
        var difference = self
        difference.low &= ~other.low
        difference.high &= ~other.high
        return difference
    }
}

extension ByteSet {
    /// `0-9`.
    package static let digits = ByteSet("0123456789")
    /// `0-9 a-f`.
    package static let lowerHexDigits = ByteSet("0123456789abcdef")
    /// `0-9 a-f A-F`.
    package static let hexDigits = ByteSet("0123456789abcdefABCDEF")
    /// `a-z A-Z 0-9`.
    package static let alphanumerics = digits.union(ByteSet(0x41...0x5A)).union(ByteSet(0x61...0x7A))
    /// The characters that never need to be encoded in a URL: `a-z A-Z 0-9 - . _ ~` (RFC 3986, section 2.3).
    package static let unreserved = alphanumerics.union(ByteSet("-._~"))
    /// Visible ASCII without the blank, `!` to `~`.
    package static let visible = ByteSet(0x21...0x7E)
}

extension Sequence<UInt8> {
    /// The bytes as lower-case hex digits.
    package var hex: String {
        var digits: [UInt8] = []
        digits.reserveCapacity(underestimatedCount * 2)
        for byte in self {
            digits.append(hexDigit(byte >> 4))
            digits.append(hexDigit(byte & 15))
        }
        return String(decoding: digits, as: UTF8.self)
    }
}

/// One lower-case hex digit.
package func hexDigit(_ nibble: UInt8) -> UInt8 {
    nibble < 10 ? nibble + UInt8(ascii: "0") : nibble - 10 + UInt8(ascii: "a")
}

/// The value of one hex digit in either case; `nil` for another byte.
func hexValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}
