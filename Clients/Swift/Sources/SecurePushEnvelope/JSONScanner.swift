/// Walks JSON text (RFC 8259) and checks it. It returns ends of values, and no tree.
struct JSONScanner {
    typealias Malformed = StrictJSON.Malformed

    let bytes: UnsafeRawBufferPointer
    /// How deep arrays and objects may nest. The default is for a text that was checked.
    var maxDepth = Int.max
    /// Whether an object may not repeat a name.
    var checksNames = false

    private func byte(_ position: Int) -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private func has(_ character: Unicode.Scalar, at position: Int) -> Bool {
        byte(position) == UInt8(ascii: character)
    }

    func skipBlanks(_ start: Int) -> Int {
        var position = start
        while let byte = byte(position), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
        return position
    }

    /// The end of a value.
    ///
    /// - Parameter depth: the number of arrays and objects around it.
    func skipValue(_ start: Int, depth: Int) throws -> Int {
        switch byte(start) {
        case UInt8(ascii: "\""): return try skipString(start)
        case UInt8(ascii: "{") where checksNames:
            var names: Set<StrictJSON.Name> = []
            return try skipContainer(start, depth: depth) { name, _ in
                guard names.insert(.init(utf8: try unescape(name))).inserted else { throw Malformed() }
            }
        case UInt8(ascii: "{"), UInt8(ascii: "["): return try skipContainer(start, depth: depth) { _, _ in }
        case UInt8(ascii: "t"): return try skipWord("true", start)
        case UInt8(ascii: "f"): return try skipWord("false", start)
        case UInt8(ascii: "n"): return try skipWord("null", start)
        default: return try skipNumber(start)
        }
    }

    /// The end of an object or array. The closure gets the place of the name and value of each member, or an empty name
    /// and the place of each element.
    func skipContainer(
        _ start: Int, depth: Int, _ visit: (_ name: Range<Int>, _ value: Range<Int>) throws -> Void
    ) throws -> Int {
        guard depth < maxDepth else { throw Malformed() }
        let isObject = has("{", at: start)
        let end: Unicode.Scalar = isObject ? "}" : "]"
        var position = skipBlanks(start + 1)
        if has(end, at: position) { return position + 1 }
        while true {
            let nameStart = position
            let nameEnd = isObject ? try skipString(position) : position
            if isObject {
                position = skipBlanks(nameEnd)
                guard has(":", at: position) else { throw Malformed() }
                position = skipBlanks(position + 1)
            }
            let valueEnd = try skipValue(position, depth: depth + 1)
            try visit(nameStart..<nameEnd, position..<valueEnd)
            position = skipBlanks(valueEnd)
            if has(end, at: position) { return position + 1 }
            guard has(",", at: position) else { throw Malformed() }
            position = skipBlanks(position + 1)
        }
    }

    private func skipWord(_ word: StaticString, _ start: Int) throws -> Int {
        let end = start + word.utf8CodeUnitCount
        guard end <= bytes.count, (0..<word.utf8CodeUnitCount).allSatisfy({ word.utf8Start[$0] == bytes[start + $0] })
        else { throw Malformed() }
        return end
    }

    private func skipNumber(_ start: Int) throws -> Int {
        var position = has("-", at: start) ? start + 1 : start
        let integer = try skipDigits(position)
        if has("0", at: position), integer > position + 1 { throw Malformed() }
        position = has(".", at: integer) ? try skipDigits(integer + 1) : integer
        guard has("e", at: position) || has("E", at: position) else { return position }
        position += 1
        return try skipDigits(has("+", at: position) || has("-", at: position) ? position + 1 : position)
    }

    private func skipDigits(_ start: Int) throws -> Int {
        var position = start
        while let digit = byte(position), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) { position += 1 }
        guard position > start else { throw Malformed() }
        return position
    }
}

/// Strings.
extension JSONScanner {
    private func skipString(_ start: Int) throws -> Int {
        guard has("\"", at: start) else { throw Malformed() }
        var position = start + 1
        while let next = byte(position) {
            switch next {
            case UInt8(ascii: "\""): return position + 1
            case UInt8(ascii: "\\"): _ = try escape(&position)
            case 0x20..<0x80: position += 1
            default: position = try skipCharacter(position)
            }
        }
        throw Malformed()
    }

    /// A character of two to four bytes of UTF-8 (RFC 3629): not overlong, no surrogate, not above U+10FFFF.
    private func skipCharacter(_ start: Int) throws -> Int {
        let (length, second): (Int, ClosedRange<UInt8>)
        switch bytes[start] {
        case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
        case 0xE0: (length, second) = (3, 0xA0...0xBF)
        case 0xED: (length, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
        case 0xF0: (length, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
        case 0xF4: (length, second) = (4, 0x80...0x8F)
        default: throw Malformed()
        }
        let end = start + length
        guard end <= bytes.count, second.contains(bytes[start + 1]) else { throw Malformed() }
        for next in bytes[start + 2..<end] where next & 0xC0 != 0x80 { throw Malformed() }
        return end
    }

    /// The value of a string that was checked, with its quotation marks; nothing for an empty range.
    func unescape(_ span: Range<Int>) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(span.count)
        var position = span.lowerBound + 1
        while position < span.upperBound - 1 {
            if has("\\", at: position) {
                if let character = UTF8.encode(try escape(&position)) { result += character }
            } else {
                result.append(bytes[position])
                position += 1
            }
        }
        return result
    }

    /// The character of an escape, or of two that are a surrogate pair. The position moves behind it.
    private func escape(_ position: inout Int) throws -> Unicode.Scalar {
        let letter = byte(position + 1)
        position += 2
        switch letter {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default: throw Malformed()
        }
        var unit = try hexadecimal(&position)
        if (0xD800..<0xDC00).contains(unit), has("\\", at: position), has("u", at: position + 1) {
            position += 2
            let low = try hexadecimal(&position)
            guard (0xDC00..<0xE000).contains(low) else { throw Malformed() }
            unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
        }
        // A surrogate alone is no scalar.
        guard let scalar = Unicode.Scalar(unit) else { throw Malformed() }
        return scalar
    }

    private func hexadecimal(_ position: inout Int) throws -> UInt32 {
        guard position + 4 <= bytes.count else { throw Malformed() }
        var value: UInt32 = 0
        for digit in bytes[position..<position + 4] {
            guard let number = Character(Unicode.Scalar(digit)).hexDigitValue else { throw Malformed() }
            value = value << 4 | UInt32(number)
        }
        position += 4
        return value
    }
}
