/// Reads template expressions out of a text: what is no expression is left as it is, so no text is ever refused.
struct TemplateScanner {
    private let scalars: [Unicode.Scalar]
    private var index = 0

    /// What a text consists of.
    enum Part: Equatable {
        case text(String)
        case expression(TemplateExpression)
    }

    /// - Parameter allowsGroups: whether `{a + b}` is an expression; not where braces are JSON's.
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

    /// The name inside a text that is `#(name)` and nothing else.
    static func lonelyNumber(_ text: String) -> String? {
        guard text.hasPrefix("#("), case .expression(.property(let name))? = parts(of: text).first,
            parts(of: text).count == 1
        else { return nil }
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

    /// `{a + b}`, from the brace on.
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
        if let expression = markedOrNothing() { return expression }
        index = start
        return nil
    }

    private mutating func markedOrNothing() -> TemplateExpression? {
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
