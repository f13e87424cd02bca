import Foundation

/// The target of a notification: tags, `!`, `&&`, `||` and parentheses, binding in that order.
///
/// Tags are held in lower case; the hub compares them without regard to case.
indirect enum TagExpression: Equatable, Sendable {
    case tag(String)
    case not(TagExpression)
    case and(TagExpression, TagExpression)
    case or(TagExpression, TagExpression)

    /// The hub's limit for expressions with `||` only.
    private static let maxTagsInPlainOr = 20
    /// The hub's limit for all others.
    private static let maxTags = 6

    /// Reads the tags header.
    ///
    /// - Returns: nil when the header is absent or blank, which means all registrations.
    /// - Throws: 400 for invalid syntax or too many tags.
    static func parse(_ header: String?) throws(HubError) -> TagExpression? {
        guard let header, header.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else { return nil }
        if TagSyntax.isTag(header) { return .tag(header.lowercased()) }
        var parser = TagExpressionParser(header)
        let expression = try parser.parse()
        let limit = expression.alternatives == nil ? maxTags : maxTagsInPlainOr
        guard expression.tags.count <= limit else {
            throw HubError.badRequest("The tag expression has more than \(limit) tags.")
        }
        return expression
    }

    /// Whether the expression matches a registration.
    ///
    /// - Parameter tags: the registration's tags in lower case.
    func matches(_ tags: Set<String>) -> Bool {
        switch self {
        case .tag(let name): tags.contains(name)
        case .not(let inner): !inner.matches(tags)
        case .and(let left, let right): left.matches(tags) && right.matches(tags)
        case .or(let left, let right): left.matches(tags) || right.matches(tags)
        }
    }

    /// The tags of an expression with `||` only, for which an index is enough; nil for all other expressions.
    var alternatives: [String]? {
        switch self {
        case .tag(let name): return [name]
        case .or(let left, let right):
            guard let left = left.alternatives, let right = right.alternatives else { return nil }
            return left + right
        case .not, .and: return nil
        }
    }

    /// Sets of tags: whatever matches has a tag of each of them. None if a registration without tags can match.
    var tagSets: [[String]] { tagSets(negated: false) }

    private func tagSets(negated: Bool) -> [[String]] {
        switch self {
        case .tag(let name): return negated ? [] : [[name]]
        case .not(let inner): return inner.tagSets(negated: !negated)
        case .and(let left, let right), .or(let left, let right):
            let (left, right) = (left.tagSets(negated: negated), right.tagSets(negated: negated))
            // De Morgan: a negated `||` is an `&&`.
            let isAnd = if case .and = self { !negated } else { negated }
            return isAnd ? left + right : left.flatMap { one in right.map { one + $0 } }
        }
    }

    /// All tags of the expression in lower case, those after `!` too, with repeats.
    var tags: [String] {
        switch self {
        case .tag(let name): [name]
        case .not(let inner): inner.tags
        case .and(let left, let right), .or(let left, let right): left.tags + right.tags
        }
    }
}

/// A recursive-descent parser of tag expressions. Depth and length are bounded, so no input can exhaust the stack.
private struct TagExpressionParser {
    /// In characters: far more than 20 tags of 120 characters need.
    private static let maxLength = 4096
    private static let maxDepth = 64

    private let scalars: [Unicode.Scalar]
    private var index = 0
    private var depth = 0

    init(_ text: String) {
        scalars = Array(text.unicodeScalars.prefix(Self.maxLength + 1))
    }

    mutating func parse() throws(HubError) -> TagExpression {
        guard scalars.count <= Self.maxLength else { throw syntaxError("is too long") }
        let expression = try alternatives()
        skipBlanks()
        guard index == scalars.count else { throw syntaxError("has text after its end") }
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
        guard depth <= Self.maxDepth else { throw syntaxError("is nested too deeply") }
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
            guard index < scalars.count, scalars[index] == ")" else { throw syntaxError("has an unclosed parenthesis") }
            index += 1
            return inner
        default:
            return .tag(try tag())
        }
    }

    private mutating func tag() throws(HubError) -> String {
        let start = index
        if scalars[index] == "$" {
            // The special forms have braces, and between them characters that are never operators.
            while index < scalars.count, scalars[index] != "}", !scalars[index].properties.isWhitespace { index += 1 }
            if index < scalars.count { index += 1 }
        } else {
            while index < scalars.count, TagSyntax.isTagCharacter(scalars[index]) { index += 1 }
        }
        let text = String(String.UnicodeScalarView(scalars[start..<index]))
        guard TagSyntax.isTag(text) else { throw syntaxError("has an invalid tag") }
        return text.lowercased()
    }

    /// Consumes a doubled operator if it is next.
    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard index + 1 < scalars.count, scalars[index] == scalar, scalars[index + 1] == scalar else { return false }
        index += 2
        return true
    }

    private mutating func skipBlanks() {
        while index < scalars.count, scalars[index].properties.isWhitespace { index += 1 }
    }

    private func syntaxError(_ reason: String) -> HubError {
        HubError.badRequest("The tag expression \(reason) (near character \(index + 1)).")
    }
}

/// The syntax of tags: letters, digits and `_ @ # . : -`, and the two special forms of the service.
enum TagSyntax {
    /// The hub's limit, in characters.
    static let maxLength = 120
    /// The hub's limit for one registration.
    static let maxCountPerRegistration = 60

    private static let specialPrefixes = ["$installationid:{", "$userid:{"]

    static func isTagCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "@", "#", ".", ":", "-": true
        default: scalar.value >= 0x80 && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        }
    }

    /// Whether a text is one tag, `$InstallationId:{id}` and `$UserId:{id}` included.
    static func isTag(_ text: some StringProtocol) -> Bool {
        guard !text.isEmpty, text.unicodeScalars.count <= maxLength else { return false }
        guard text.utf8.first == UInt8(ascii: "$") else { return text.unicodeScalars.allSatisfy(isTagCharacter) }
        let lowered = text.lowercased()
        guard let prefix = specialPrefixes.first(where: lowered.hasPrefix), lowered.hasSuffix("}") else { return false }
        let inner = lowered.dropFirst(prefix.count).dropLast()
        return !inner.isEmpty && inner.unicodeScalars.allSatisfy { isTagCharacter($0) || $0 == "=" }
    }

    /// The tags of a registration's `Tags` element: separated by commas, without blanks around them and repeats.
    ///
    /// - Throws: 400.
    static func list(_ text: String) throws(HubError) -> [String] {
        var seen: Set<String> = []
        var tags: [String] = []
        for part in text.unicodeScalars.split(separator: ",") {
            let name = String(part).trimmingCharacters(in: .whitespacesAndNewlines)
            guard !name.isEmpty else { continue }
            guard isTag(name) else { throw HubError.badRequest("A tag is invalid or longer than 120 characters.") }
            if seen.insert(name.lowercased()).inserted { tags.append(name) }
        }
        guard tags.count <= maxCountPerRegistration else {
            throw HubError.badRequest("A registration has at most 60 tags.")
        }
        try checkSpecialTags(tags)
        return tags
    }

    /// - Throws: 400 for tags of two installations or of two users.
    static func checkSpecialTags(_ tags: [String]) throws(HubError) {
        for prefix in specialPrefixes where tags.count(where: { $0.lowercased().hasPrefix(prefix) }) > 1 {
            throw HubError.badRequest("There is more than one tag $InstallationId:{...} or $UserId:{...}.")
        }
    }
}
