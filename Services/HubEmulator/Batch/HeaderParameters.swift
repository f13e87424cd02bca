/// The parameters behind a header's value: `inline; name=devices`, `multipart/mixed; boundary="B"`.
enum HeaderParameters {
    /// - Parameter name: in lower case.
    static func value(of name: String, in header: String) -> String? {
        for parameter in pieces(of: header).dropFirst() {
            guard let equals = parameter.firstIndex(of: "="),
                trimmed(parameter[..<equals]).lowercased() == name
            else { continue }
            return unquoted(trimmed(parameter[parameter.index(after: equals)...]))
        }
        return nil
    }

    /// Split at semicolons outside of quotes.
    private static func pieces(of header: String) -> [Substring] {
        var isQuoted = false
        return header.split(omittingEmptySubsequences: false) { character in
            if character == "\"" { isQuoted.toggle() }
            return character == ";" && !isQuoted
        }
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }

    private static func unquoted(_ text: Substring) -> String {
        guard text.count >= 2, text.first == "\"", text.last == "\"" else { return String(text) }
        return String(text.dropFirst().dropLast()).replacing("\\\"", with: "\"").replacing("\\\\", with: "\\")
    }
}
