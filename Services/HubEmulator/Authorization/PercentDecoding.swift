/// Percent-decoding as the hub does it: malformed escapes stand as they are, and bytes that are no UTF-8 are repaired.
enum PercentDecoding {
    /// Decodes once.
    ///
    /// - Parameter plusIsBlank: whether `+` means a blank, as in HTML forms.
    static func decode(_ text: some StringProtocol, plusIsBlank: Bool = false) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || (plusIsBlank && $0 == UInt8(ascii: "+")) }) else {
            return String(text)
        }
        let bytes = Array(text.utf8)
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = hexValue(bytes[index + 1]), let low = hexValue(bytes[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(plusIsBlank && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Decodes until nothing changes, at most eight times: some clients escape what was escaped already.
    static func decodeRepeatedly(_ text: some StringProtocol) -> String {
        var current = String(text)
        for _ in 0..<8 {
            let next = decode(current)
            if next.utf8.elementsEqual(current.utf8) { break }
            current = next
        }
        return current
    }

    /// The value of one hexadecimal digit in ASCII.
    static func hexValue(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
