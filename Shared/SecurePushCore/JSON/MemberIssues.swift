/// The issues of a request's members, in the order in which they were found: each once, and at most ``maxEntries`` of
/// them, so that a refusal costs little.
public struct MemberIssues: Sendable, Hashable {
    /// One offending member.
    public struct Issue: Sendable, Hashable {
        /// RFC 6901; empty for the whole document.
        public let pointer: String
        /// What is wrong with it, for the client.
        public let detail: String

        public init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }
    }

    /// The most issues that are listed; further ones are only counted.
    public static let maxEntries = 100
    /// The longest pointer that is repeated to the client, in bytes. A longer one ends at the member around it.
    public static let maxPointerBytes = 512

    /// The first issues, at most ``maxEntries``.
    public private(set) var entries: [Issue] = []
    /// How many more were found.
    public private(set) var omitted = 0
    private var known: Set<Issue> = []

    public init() {}

    public var isEmpty: Bool { entries.isEmpty }

    /// Adds an issue, unless the same is there already.
    public mutating func note(_ pointer: String, _ detail: String) {
        let issue = Issue.shortened(pointer, detail)
        if known.contains(issue) { return }
        guard entries.count < Self.maxEntries else { return omitted += 1 }
        known.insert(issue)
        entries.append(issue)
    }
}

extension MemberIssues.Issue {
    /// An issue whose pointer is not too long to be repeated: the names in it are the client's.
    fileprivate static func shortened(_ pointer: String, _ detail: String) -> MemberIssues.Issue {
        guard pointer.utf8.count > MemberIssues.maxPointerBytes else {
            return MemberIssues.Issue(pointer: pointer, detail: detail)
        }
        // A cut within a character or an escape would point at nothing, so it is made at a slash.
        let start = pointer.utf8.prefix(MemberIssues.maxPointerBytes + 1)
        let end = start.lastIndex(of: UInt8(ascii: "/")) ?? start.startIndex
        let note = " This concerns a member of it, whose name is too long to be repeated."
        return MemberIssues.Issue(pointer: String(pointer[..<end]), detail: detail + note)
    }
}
