extension String {
    /// Whether two texts are the same but for the case of ASCII letters.
    public func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { left, right in
                left == right || (left | 0x20 == right | 0x20 && (0x61...0x7A).contains(left | 0x20))
            }
    }

    /// A name as a token of a JSON pointer (RFC 6901, section 3).
    public var escapedForJSONPointer: String {
        var escaped = ""
        for character in unicodeScalars {
            switch character {
            case "~": escaped += "~0"
            case "/": escaped += "~1"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
