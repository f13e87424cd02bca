/// Checks text before it is read: Swift's own decoding puts U+FFFD in the place of what is malformed.
enum UTF8Text {
    /// Whether the bytes are UTF-8 (RFC 3629): no overlong forms, no surrogates, nothing above U+10FFFF.
    static func isValid(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var position = 0
        while position < bytes.count {
            let first = bytes[position]
            position += 1
            if first < 0x80 { continue }
            let (count, second): (Int, ClosedRange<UInt8>)
            switch first {
            case 0xC2...0xDF: (count, second) = (1, 0x80...0xBF)
            case 0xE0: (count, second) = (2, 0xA0...0xBF)
            case 0xED: (count, second) = (2, 0x80...0x9F)
            case 0xE1...0xEF: (count, second) = (2, 0x80...0xBF)
            case 0xF0: (count, second) = (3, 0x90...0xBF)
            case 0xF1...0xF3: (count, second) = (3, 0x80...0xBF)
            case 0xF4: (count, second) = (3, 0x80...0x8F)
            default: return false
            }
            guard position + count <= bytes.count, second.contains(bytes[position]) else { return false }
            for next in bytes[(position + 1)..<(position + count)] where next & 0xC0 != 0x80 { return false }
            position += count
        }
        return true
    }
}
