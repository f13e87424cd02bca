import Foundations

/// Finds the template expressions of a text. All other text stays as it is, so no text is ever refused.
struct TemplateScanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0

    /// A part of a text.
    enum Part: Equatable {
        case text(String)
        case expression(TemplateExpression)
    }

    /// - Parameter allowsGroups: whether `{a + b}` is an expression; false where braces are JSON's.
    static func parts(of text: String, allowsGroups: Bool = true) -> [Part] {
        var scanner = TemplateScanner(scalars: Array(text.unicodeScalars))
        var parts: [Part] = []
        var plain = String.UnicodeScalarView()
        while let scalar = scanner.peek() {
            let start = scanner.index
            let found = scalar == "{" ? (allowsGroups ? scanner.group() : nil) : scanner.marked()
            if let found {
                if !plain.isEmpty { parts.append(.text(String(plain))) }
                plain.removeAll()
                parts.append(.expression(found))
            } else {
                scanner.index = start + 1
                plain.append(scalar)
            }
        }
        if !plain.isEmpty { parts.append(.text(String(plain))) }
        return parts
    }

    /// The name of a text that consists of `#(name)` only.
    static func nameOfNumber(_ text: String) -> String? {
        let parts = text.utf8.starts(with: "#(".utf8) ? parts(of: text) : []
        guard parts.count == 1, case .expression(.property(let name)) = parts[0] else { return nil }
        return name
    }

    private func peek() -> Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek() == scalar else { return false }
        index += 1
        return true
    }

    private mutating func skipBlanks() {
        while let scalar = peek(), scalar.properties.isWhitespace { index += 1 }
    }

    /// `{a + b}`.
    private mutating func group() -> TemplateExpression? {
        guard take("{") else { return nil }
        var parts: [TemplateExpression] = []
        repeat {
            skipBlanks()
            guard let part = literal() ?? marked() else { return nil }
            parts.append(part)
            skipBlanks()
        } while take("+")
        guard take("}") else { return nil }
        return parts.count == 1 ? parts[0] : .joined(parts)
    }

    private mutating func literal() -> TemplateExpression? {
        guard let quote = peek(), quote == "'" || quote == "\"" else { return nil }
        guard let end = scalars[(index + 1)...].firstIndex(of: quote) else { return nil }
        defer { index = end + 1 }
        return .literal(String(String.UnicodeScalarView(scalars[(index + 1)..<end])))
    }

    /// `$(a)`, `$(a, n)`, `.(a, n)`, `%(a)`, `#(a)` or `$body`.
    private mutating func marked() -> TemplateExpression? {
        let start = index
        let expression = markedExpression()
        if expression == nil { index = start }
        return expression
    }

    private mutating func markedExpression() -> TemplateExpression? {
        guard let mark = peek(), mark == "$" || mark == "." || mark == "%" || mark == "#" else { return nil }
        index += 1
        if mark == "$", let body = message() { return body }
        guard take("(") else { return nil }
        skipBlanks()
        let name = name()
        skipBlanks()
        guard !name.isEmpty else { return nil }
        if take(")") {
            switch mark {
            case ".": return nil
            case "%": return .encoded(name)
            default: return .property(name)
            }
        }
        guard mark == "$" || mark == ".", take(","), let count = count(), take(")") else { return nil }
        return mark == "." ? .dotted(name, count) : .clipped(name, count)
    }

    private mutating func message() -> TemplateExpression? {
        let word = "body".unicodeScalars
        guard scalars[index...].starts(with: word) else { return nil }
        let end = index + word.count
        if end < scalars.count, scalars[end].properties.isAlphabetic || scalars[end] == "_" { return nil }
        index = end
        return .message
    }

    private mutating func name() -> String {
        let start = index
        while let scalar = peek(),
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil || scalar == "_" || scalar == "-"
                || scalar == "." || scalar == ":"
        { index += 1 }
        return String(String.UnicodeScalarView(scalars[start..<index]))
    }

    private mutating func count() -> Int? {
        skipBlanks()
        let start = index
        while let scalar = peek(), ("0"..."9").contains(scalar) { index += 1 }
        let number = Int(String(String.UnicodeScalarView(scalars[start..<index])))
        skipBlanks()
        return number
    }
}

/// An expression of the service's template language.
indirect enum TemplateExpression: Equatable, Sendable {
    /// `$(name)`, and `#(name)`, which becomes a number if it is a whole JSON string.
    case property(String)
    /// `$(name, n)`: at most n characters.
    case clipped(String, Int)
    /// `.(name, n)`: at most n characters, the last three of them dots if the text was longer.
    case dotted(String, Int)
    /// `%(name)`: percent-encoded.
    case encoded(String)
    /// `$body`: the whole message.
    case message
    /// `'text'` or `"text"`.
    case literal(String)
    /// `{a + b}`.
    case joined([TemplateExpression])

    /// Its value; all but literals are escaped.
    func value(_ properties: TemplateProperties, escape: (String) -> String) -> String {
        switch self {
        case .property(let name): escape(properties[name])
        case .clipped(let name, let count): escape(String(properties[name].prefix(count)))
        case .dotted(let name, let count): escape(Self.dotted(properties[name], count))
        case .encoded(let name): escape(PercentCoding.encode(properties[name]))
        case .message: escape(properties.message)
        case .literal(let text): text
        case .joined(let parts):
            parts.reduce(into: "") { output, part in
                if output.utf8.count < TemplateRenderer.maxBytes { output += part.value(properties, escape: escape) }
            }
        }
    }

    private static func dotted(_ text: String, _ count: Int) -> String {
        guard text.count > count else { return text }
        return text.prefix(max(0, count - 3)) + String(repeating: ".", count: min(3, count))
    }
}
