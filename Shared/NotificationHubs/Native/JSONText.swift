/// Writes JSON strings, RFC 8259 section 7: only what must be escaped is; everything else stays UTF-8.
enum JSONText {
    /// Appends a string with its quotes.
    static func append(_ text: String, to json: inout String) {
        json.append("\"")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": json.append("\\\"")
            case "\\": json.append("\\\\")
            case "\u{8}": json.append("\\b")
            case "\t": json.append("\\t")
            case "\n": json.append("\\n")
            case "\u{C}": json.append("\\f")
            case "\r": json.append("\\r")
            case "\u{0}"..."\u{1F}":
                json.append("\\u00")
                json.append(scalar.value < 16 ? "0" : "1")
                json.append(String(scalar.value & 15, radix: 16))
            default: json.unicodeScalars.append(scalar)
            }
        }
        json.append("\"")
    }
}
