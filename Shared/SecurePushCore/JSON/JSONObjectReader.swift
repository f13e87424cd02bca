/// Reads the members of JSON objects by their names, and notes what is wrong with each instead of stopping at the
/// first.
///
/// Names are matched without regard to case (ASCII) and reported in the spelling that they are known by; unknown,
/// repeated and missing members are noted, and values of another kind than asked for. All methods go on after an
/// issue, so that one answer can name every offending member.
public struct JSONObjectReader {
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

    /// A member that was found.
    public struct Member: Sendable, Hashable {
        /// In the spelling that it is known by; for a free name as it came.
        public let name: String
        public let value: JSONSpan
        /// Where the value stands (RFC 6901).
        public let pointer: String
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    /// The document's one value.
    public let root: JSONSpan
    /// In the order in which they were found.
    public private(set) var issues: [Issue] = []

    /// - Parameter bytes: the text; the pointer must outlive the reader.
    /// - Throws: ``JSONSyntaxError`` for what is not JSON.
    public init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) {
        var scanner = JSONScanner(bytes)
        root = try scanner.document()
        self.bytes = bytes
    }

    public mutating func note(_ pointer: String, _ detail: String) {
        issues.append(Issue(pointer: pointer, detail: detail))
    }

    /// The members of an object whose names are known, each once.
    ///
    /// - Parameters:
    ///   - pointer: where the object stands; empty for the root.
    ///   - known: the names in the contract's spelling.
    ///   - required: those of them that must be there.
    public mutating func members(
        of span: JSONSpan, at pointer: String = "", known: [String], required: [String] = []
    ) -> [Member] {
        guard let all = rawMembers(of: span, at: pointer) else { return [] }
        var found: [Member] = []
        for member in all {
            guard let name = known.first(where: { $0.equalsIgnoringASCIICase(member.name) }) else {
                note(member.pointer, "There is no such member.")
                continue
            }
            let place = "\(pointer)/\(name)"
            guard !found.contains(where: { $0.name == name }) else {
                note(place, "The member is repeated.")
                continue
            }
            found.append(Member(name: name, value: member.value, pointer: place))
        }
        for name in required where !found.contains(where: { $0.name == name }) {
            note("\(pointer)/\(name)", "The member is required.")
        }
        return found
    }

    /// The members of an object whose names are free, each once; names are compared byte for byte.
    public mutating func freeMembers(of span: JSONSpan, at pointer: String) -> [Member] {
        var names: Set<[UInt8]> = []
        var found: [Member] = []
        for member in rawMembers(of: span, at: pointer) ?? [] {
            if names.insert(Array(member.name.utf8)).inserted {
                found.append(member)
            } else {
                note(member.pointer, "The member is repeated.")
            }
        }
        return found
    }

    /// The elements of an array; none, and an issue, for another value.
    public mutating func elements(of span: JSONSpan, at pointer: String) -> [JSONSpan] {
        guard expect(.array, span, at: pointer) else { return [] }
        var elements: [JSONSpan] = []
        var scanner = JSONScanner(bytes, range: span.range)
        // The whole text has been checked: it cannot fail again.
        try? scanner.elements { elements.append($0) }
        return elements
    }

    /// The text of a string; `nil`, and an issue, for another value.
    public mutating func string(_ span: JSONSpan, at pointer: String) -> String? {
        expect(.string, span, at: pointer) ? JSONScanner(bytes).text(of: span) : nil
    }

    private mutating func expect(_ kind: JSONSpan.Kind, _ span: JSONSpan, at pointer: String) -> Bool {
        if span.kind == kind { return true }
        let subject = pointer.isEmpty ? "body" : "value"
        note(pointer, "The \(subject) must be \(kind.phrase), not \(span.kind.phrase).")
        return false
    }

    private mutating func rawMembers(of span: JSONSpan, at pointer: String) -> [Member]? {
        guard expect(.object, span, at: pointer) else { return nil }
        var spans: [(name: JSONSpan, value: JSONSpan)] = []
        var scanner = JSONScanner(bytes, range: span.range)
        // The whole text has been checked: it cannot fail again.
        try? scanner.members { (name, value) throws(JSONSyntaxError) in spans.append((name, value)) }
        return spans.map { name, value in
            let name = JSONScanner(bytes).text(of: name)
            return Member(name: name, value: value, pointer: "\(pointer)/\(name.escapedForJSONPointer)")
        }
    }
}
