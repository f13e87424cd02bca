import Foundation

/// Strings and numbers as they stand in JSON templates.
enum TemplateString {
    /// Where a string ends that begins here, past its closing quote; nil when it has none.
    static func end(of text: Substring) -> Substring.Index? {
        let bytes = text.utf8
        var index = bytes.index(after: bytes.startIndex)
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\\"):
                index = bytes.index(after: index)
                if index == bytes.endIndex { return nil }
            case UInt8(ascii: "\""): return bytes.index(after: index)
            default: break
            }
            index = bytes.index(after: index)
        }
        return nil
    }

    /// What a string with its quotes stands for; nil when it is no JSON.
    static func decode(_ literal: Substring) -> String? {
        guard literal.utf8.contains(UInt8(ascii: "\\")) else { return String(literal.dropFirst().dropLast()) }
        return try? JSONDecoder().decode(String.self, from: Data(literal.utf8))
    }

    /// The text between the quotes.
    static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": escaped += "\\\""
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\r": escaped += "\\r"
            case "\t": escaped += "\\t"
            case "\u{0}"..."\u{1F}":
                let hex = String(scalar.value, radix: 16)
                escaped += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Whether a text is a number as JavaScript writes them, which `#(name)` gives without quotes.
    static func isNumber(_ text: String) -> Bool {
        var rest = text[...].utf8
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = digits(&rest)
        guard whole > 0, whole == 1 || text.utf8.drop(while: { $0 == UInt8(ascii: "-") }).first != UInt8(ascii: "0")
        else { return false }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard digits(&rest) > 0 else { return false }
        }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
            guard digits(&rest) > 0 else { return false }
        }
        return rest.isEmpty
    }

    private static func digits(_ rest: inout Substring.UTF8View) -> Int {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest[digits.endIndex...]
        return digits.count
    }
}
