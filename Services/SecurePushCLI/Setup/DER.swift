/// The few forms of ASN.1's distinguished encoding rules (ITU-T X.690) that a certificate is made of.
enum DER {
    /// An element: its tag, the length of its content, its content.
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        var length: [UInt8] = []
        var rest = content.count
        guard rest >= 128 else { return [tag, UInt8(rest)] + content }
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }

    static func sequence(_ elements: [UInt8]...) -> [UInt8] { element(0x30, elements.flatMap { $0 }) }
    static func set(_ elements: [UInt8]...) -> [UInt8] { element(0x31, elements.flatMap { $0 }) }
    static func utf8String(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }
    static func octetString(_ bytes: [UInt8]) -> [UInt8] { element(0x04, bytes) }
    static func boolean(_ value: Bool) -> [UInt8] { element(0x01, [value ? 0xFF : 0]) }

    /// Whole bytes, no bit unused.
    static func bitString(_ bytes: [UInt8]) -> [UInt8] { element(0x03, [0] + bytes) }

    /// A number of 0 or more, most significant byte first.
    static func integer(_ bytes: [UInt8]) -> [UInt8] {
        let digits = Array(bytes.drop { $0 == 0 })
        return element(0x02, digits.first.map { $0 >= 0x80 } ?? true ? [0] + digits : digits)
    }

    /// An object identifier whose first two arcs are below 3 and 40.
    static func objectIdentifier(_ arcs: Int...) -> [UInt8] {
        var content = [UInt8(arcs[0] * 40 + arcs[1])]
        for arc in arcs.dropFirst(2) {
            var groups = [UInt8(arc & 0x7F)]
            var rest = arc >> 7
            while rest > 0 {
                groups.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
                rest >>= 7
            }
            content += groups
        }
        return element(0x06, content)
    }

    /// A time in UTC, `2026-11-22T10:00:00Z` in RFC 3339: UTCTime to 2049 and GeneralizedTime from 2050 (RFC 5280,
    /// 4.1.2.5).
    static func time(_ rfc3339: String) -> [UInt8] {
        let digits = rfc3339.filter(\.isNumber).prefix(14) + "Z"
        return digits < "2050" ? element(0x17, Array(digits.dropFirst(2).utf8)) : element(0x18, Array(digits.utf8))
    }
}
