import Foundation

/// Writes JSON, with the members in a fixed order.
enum EnvelopeJSON {
    /// A string with its quotation marks.
    static func string(_ text: String) -> String {
        var json = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": json += "\\" + String(scalar)
            case "\u{0}"..<" ":
                let digits = String(scalar.value, radix: 16)
                json += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: json.unicodeScalars.append(scalar)
            }
        }
        return json + "\""
    }

    /// A string of bytes in base64url.
    static func string(_ bytes: Data) -> String { "\"" + Base64URL.encode(bytes) + "\"" }
}
