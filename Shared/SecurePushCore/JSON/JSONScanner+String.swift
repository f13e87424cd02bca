extension JSONScanner {
    /// Reads a string, checking its escapes and measuring its content.
    mutating func string() throws(JSONSyntaxError) -> JSONSpan {
        let start = position
        var length = 0
        var hasEscapes = false
        position += 1
        while true {
            guard position < end else { throw unexpected("within a string") }
            let byte = bytes[position]
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return JSONSpan(
                    kind: .string, range: start..<position, contentLength: length, hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                length += UTF8.width(try escape())
            case 0..<0x20:
                throw JSONSyntaxError(message: "A control character within a string", offset: position)
            default:
                position += 1
                length += 1
            }
        }
    }

    /// The text of a string that this scanner has found.
    public func text(of span: JSONSpan) -> String {
        let content = span.range.lowerBound + 1..<span.range.upperBound - 1
        if !span.hasEscapes { return String(decoding: UnsafeBufferPointer(rebasing: bytes[content]), as: UTF8.self) }
        var result: [UInt8] = []
        result.reserveCapacity(span.contentLength)
        var scanner = JSONScanner(bytes, range: content)
        while scanner.position < scanner.end {
            if scanner.bytes[scanner.position] != UInt8(ascii: "\\") {
                result.append(scanner.bytes[scanner.position])
                scanner.position += 1
            } else if let scalar = try? scanner.escape(), let encoded = UTF8.encode(scalar) {
                result.append(contentsOf: encoded)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// The bytes of a value as they stand in the text.
    public func bytes(of span: JSONSpan) -> [UInt8] {
        Array(UnsafeBufferPointer(rebasing: bytes[span.range]))
    }

    /// Reads an escape, `\uXXXX\uXXXX` pairs as one scalar.
    private mutating func escape() throws(JSONSyntaxError) -> Unicode.Scalar {
        let start = position
        position += 1
        guard position < end else { throw unexpected("within a string") }
        let letter = bytes[position]
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(letter)
        case UInt8(ascii: "b"): return "\u{08}"
        case UInt8(ascii: "f"): return "\u{0C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hexQuad()
            if let scalar = Unicode.Scalar(first) { return scalar }
            if first < 0xDC00, position + 1 < end, bytes[position] == UInt8(ascii: "\\"),
                bytes[position + 1] == UInt8(ascii: "u")
            {
                position += 2
                let second = try hexQuad()
                if (0xDC00...0xDFFF).contains(second),
                    let scalar = Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
                {
                    return scalar
                }
            }
            throw JSONSyntaxError(message: "An unpaired surrogate within a string", offset: start)
        default:
            throw JSONSyntaxError(message: "An unknown escape within a string", offset: start)
        }
    }

    private mutating func hexQuad() throws(JSONSyntaxError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard position < end, let digit = Character(Unicode.Scalar(bytes[position])).hexDigitValue,
                bytes[position] < 0x80
            else { throw unexpected("within an escape") }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }
}
