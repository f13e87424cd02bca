/// Which registrations a notification is for: tags, `!`, `&&`, `||` and parentheses, binding in that order.
///
/// Tags are held in lower case; the hub compares them without regard to case.
indirect enum TagExpression: Equatable, Sendable {
    case tag(String)
    case not(TagExpression)
    case and(TagExpression, TagExpression)
    case or(TagExpression, TagExpression)

    /// The hub's limit for expressions of nothing but `||`.
    static let maximumTagsInPlainOr = 20
    /// The hub's limit for all others.
    static let maximumTags = 6

    /// Reads the tags header.
    ///
    /// - Returns: nil when it is absent or blank, which means everyone.
    /// - Throws: 400 on bad syntax or too many tags.
    static func parse(_ header: String?) throws(HubError) -> TagExpression? {
        guard let header, header.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else { return nil }
        if TagSyntax.isTag(header) { return .tag(header.lowercased()) }
        var parser = TagExpressionParser(header)
        let expression = try parser.parse()
        let limit = expression.isPlainOr ? maximumTagsInPlainOr : maximumTags
        guard expression.tagCount <= limit else {
            throw HubError.badRequest("The tag expression has more than \(limit) tags.")
        }
        return expression
    }

    /// Whether a registration is meant.
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

    /// The tags of a plain `a || b || c`, which an index can answer; nil for all other expressions.
    var alternatives: [String]? {
        switch self {
        case .tag(let name): return [name]
        case .or(let left, let right):
            guard let left = left.alternatives, let right = right.alternatives else { return nil }
            return left + right
        case .not, .and: return nil
        }
    }

    /// All tags that are named, in lower case, those behind `!` too.
    var tags: [String] {
        switch self {
        case .tag(let name): [name]
        case .not(let inner): inner.tags
        case .and(let left, let right), .or(let left, let right): left.tags + right.tags
        }
    }

    private var isPlainOr: Bool { alternatives != nil }

    private var tagCount: Int {
        switch self {
        case .tag: 1
        case .not(let inner): inner.tagCount
        case .and(let left, let right), .or(let left, let right): left.tagCount + right.tagCount
        }
    }
}
