/// Percent-encoding of everything but RFC 3986's unreserved characters, section 2.3.
enum PercentEncoding {
    static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if isUnreserved(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(upperHexDigit(byte >> 4))
                bytes.append(upperHexDigit(byte & 15))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a text is already the result of an encoding: unreserved characters and complete `%XX` only, and at
    /// least one of the latter.
    static func isEncoded(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        var position = 0
        var escapes = 0
        while position < bytes.count {
            if bytes[position] == UInt8(ascii: "%") {
                guard position + 2 < bytes.count, isHexDigit(bytes[position + 1]), isHexDigit(bytes[position + 2])
                else { return false }
                escapes += 1
                position += 3
            } else {
                guard isUnreserved(bytes[position]) else { return false }
                position += 1
            }
        }
        return escapes > 0
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
            UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private static func upperHexDigit(_ nibble: UInt8) -> UInt8 {
        nibble < 10 ? nibble + UInt8(ascii: "0") : nibble - 10 + UInt8(ascii: "A")
    }
}
