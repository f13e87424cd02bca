/// The lines of a head, each without its CR LF.
struct HTTPLines: IteratorProtocol {
    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    mutating func next() -> UnsafeRawBufferPointer? {
        guard !rest.isEmpty else { return nil }
        let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.count
        let line = UnsafeRawBufferPointer(rebasing: rest[..<end])
        rest = UnsafeRawBufferPointer(rebasing: rest[Swift.min(end + 1, rest.count)...])
        return line.last == UInt8(ascii: "\r") ? UnsafeRawBufferPointer(rebasing: line.dropLast()) : line
    }
}

/// Numbers of HTTP: digits only, no sign, no blanks.
enum HTTPNumber {
    static func decimal(_ digits: UnsafeRawBufferPointer) -> Int? {
        guard (1...15).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            value = value * 10 + Int(digit - 48)
        }
        return value
    }

    static func hexadecimal(_ digits: UnsafeRawBufferPointer) -> Int? {
        guard (1...8).contains(digits.count) else { return nil }
        var value = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | Int(digit - 48)
            case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"):
                value = value << 4 | Int((digit | 0x20) - 87)
            default: return nil
            }
        }
        return value
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are this text when their letters are lower-cased.
    func isEqual(lowercased text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for position in 0..<count where lower(self[position]) != text.utf8Start[position] { return false }
        return true
    }

    /// Without blanks and tabs around.
    var trimmed: UnsafeRawBufferPointer {
        var start = 0
        var end = count
        while start < end, self[start] == 0x20 || self[start] == 0x09 { start += 1 }
        while end > start, self[end - 1] == 0x20 || self[end - 1] == 0x09 { end -= 1 }
        return UnsafeRawBufferPointer(rebasing: self[start..<end])
    }

    /// Whether a comma-separated list has this element.
    func hasToken(_ token: StaticString) -> Bool {
        split(separator: UInt8(ascii: ",")).contains {
            UnsafeRawBufferPointer(rebasing: $0).trimmed.isEqual(lowercased: token)
        }
    }

    private func lower(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
