/// Text of XML elements.
enum XMLText {
    /// Escapes what has a meaning in XML.
    ///
    /// - Returns: `nil` for a text with a character that XML 1.0 cannot hold (section 2.2: most control characters).
    static func encode(_ text: String) -> String? {
        var xml = ""
        xml.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": xml.append("&amp;")
            case "<": xml.append("&lt;")
            case ">": xml.append("&gt;")
            case "\"": xml.append("&quot;")
            case "'": xml.append("&apos;")
            case "\t", "\n", "\r": xml.append("&#\(scalar.value);")
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": return nil
            default: xml.unicodeScalars.append(scalar)
            }
        }
        return xml
    }

    /// Resolves the five named entities and character references.
    ///
    /// - Returns: `nil` for a reference that is none of these.
    static func decode(_ xml: String) -> String? {
        guard xml.utf8.contains(UInt8(ascii: "&")) else { return xml }
        var text = ""
        var rest = Substring(xml)
        while let ampersand = rest.firstIndex(of: "&") {
            text.append(contentsOf: rest[..<ampersand])
            rest = rest[rest.index(after: ampersand)...]
            guard let end = rest.firstIndex(of: ";"), let scalar = scalar(rest[..<end]) else { return nil }
            text.unicodeScalars.append(scalar)
            rest = rest[rest.index(after: end)...]
        }
        text.append(contentsOf: rest)
        return text
    }

    private static func scalar(_ reference: Substring) -> Unicode.Scalar? {
        switch reference {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard reference.first == "#" else { return nil }
            let digits = reference.dropFirst()
            let value = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return value.flatMap(Unicode.Scalar.init)
        }
    }
}
