/// A recursive-descent reader of tag expressions. Depth and length are bounded, so no input can exhaust the stack.
struct TagExpressionParser {
    /// Far above what 20 tags of 120 characters need.
    static let maximumLength = 4096
    private static let maximumDepth = 64

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    init(_ text: String) {
        scalars = Array(text.unicodeScalars.prefix(Self.maximumLength + 1))
    }

    mutating func parse() throws(HubError) -> TagExpression {
        guard scalars.count <= Self.maximumLength else { throw syntaxError("is too long") }
        let expression = try alternatives()
        skipBlanks()
        guard index == scalars.count else { throw syntaxError("has something after its end") }
        return expression
    }

    private mutating func alternatives() throws(HubError) -> TagExpression {
        var left = try conjunction()
        while take("|") { left = .or(left, try conjunction()) }
        return left
    }

    private mutating func conjunction() throws(HubError) -> TagExpression {
        var left = try negation()
        while take("&") { left = .and(left, try negation()) }
        return left
    }

    private mutating func negation() throws(HubError) -> TagExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else { throw syntaxError("is nested too deeply") }
        skipBlanks()
        guard index < scalars.count else { throw syntaxError("ends too early") }
        switch scalars[index] {
        case "!":
            index += 1
            return .not(try negation())
        case "(":
            index += 1
            let inner = try alternatives()
            skipBlanks()
            guard index < scalars.count, scalars[index] == ")" else { throw syntaxError("lacks a parenthesis") }
            index += 1
            return inner
        default:
            return .tag(try tag())
        }
    }

    private mutating func tag() throws(HubError) -> String {
        let start = index
        if scalars[index] == "$" {
            // The special forms hold braces, and in them characters that are operators nowhere.
            while index < scalars.count, scalars[index] != "}", !scalars[index].properties.isWhitespace { index += 1 }
            if index < scalars.count { index += 1 }
        } else {
            while index < scalars.count, TagSyntax.isTagCharacter(scalars[index]) { index += 1 }
        }
        let text = String(String.UnicodeScalarView(scalars[start..<index]))
        guard TagSyntax.isTag(text) else { throw syntaxError("has a tag that is not valid") }
        return text.lowercased()
    }

    /// Takes a doubled operator when it comes next.
    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard index + 1 < scalars.count, scalars[index] == scalar, scalars[index + 1] == scalar else { return false }
        index += 2
        return true
    }

    private mutating func skipBlanks() {
        while index < scalars.count, scalars[index].properties.isWhitespace { index += 1 }
    }

    private func syntaxError(_ what: String) -> HubError {
        HubError.badRequest("The tag expression \(what) (near character \(index + 1)).")
    }
}
