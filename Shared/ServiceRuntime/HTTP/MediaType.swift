/// What a `Content-Type` header says (RFC 9110, section 8.3).
public enum MediaType {
    /// Whether it is `application/json`, without a charset or in UTF-8.
    public static func isJSON(_ header: String?) -> Bool { isText("application/json", header) }

    /// Whether it is `application/x-ndjson`, without a charset or in UTF-8.
    public static func isNDJSON(_ header: String?) -> Bool { isText("application/x-ndjson", header) }

    private static func isText(_ type: String, _ header: String?) -> Bool {
        guard let header else { return false }
        var parts = header.split(separator: ";").map { $0.trimmingBlanks.lowercased() }
        guard !parts.isEmpty, parts.removeFirst() == type else { return false }
        return parts.allSatisfy { parameter in
            !parameter.hasPrefix("charset=") || parameter == "charset=utf-8" || parameter == #"charset="utf-8""#
        }
    }
}

extension Substring {
    fileprivate var trimmingBlanks: Substring {
        let blanks: Set<Character> = [" ", "\t"]
        var text = self
        while let first = text.first, blanks.contains(first) { text.removeFirst() }
        while let last = text.last, blanks.contains(last) { text.removeLast() }
        return text
    }
}
