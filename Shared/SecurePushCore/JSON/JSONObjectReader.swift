/// Reads the members of JSON objects by their names, and notes what is wrong with each instead of stopping at the
/// first.
///
/// Names are matched without regard to case (ASCII) and reported in the spelling that they are known by; unknown,
/// repeated and missing members are noted, and values of another kind than asked for. All methods go on after an
/// issue, so that one answer can name every offending member.
public struct JSONObjectReader {
    public typealias Issue = MemberIssues.Issue

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
    /// The issues so far, and how many more there are than are listed.
    public private(set) var memberIssues = MemberIssues()
    /// The listed issues, in the order in which they were found.
    public var issues: [Issue] { memberIssues.entries }

    /// - Parameter bytes: the text; the pointer must outlive the reader.
    /// - Throws: ``JSONSyntaxError`` for what is not JSON.
    public init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) {
        var scanner = JSONScanner(bytes)
        root = try scanner.document()
        self.bytes = bytes
    }

    public mutating func note(_ pointer: String, _ detail: String) {
        memberIssues.note(pointer, detail)
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
        guard expect(.object, span, at: pointer) else { return [] }
        var found: [Member] = []
        forEachMember(of: span, at: pointer) { reader, member in
            guard let name = known.first(where: { $0.equalsIgnoringASCIICase(member.name) }) else {
                return reader.note(member.pointer, "There is no such member.")
            }
            let place = "\(pointer)/\(name)"
            guard !found.contains(where: { $0.name == name }) else {
                return reader.note(place, "The member is repeated.")
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
        guard expect(.object, span, at: pointer) else { return [] }
        var names: Set<[UInt8]> = []
        var found: [Member] = []
        forEachMember(of: span, at: pointer) { reader, member in
            if names.insert(Array(member.name.utf8)).inserted {
                found.append(member)
            } else {
                reader.note(member.pointer, "The member is repeated.")
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

    /// Gives an object's members one by one: a list of them all would take forty times the room of the text.
    private mutating func forEachMember(
        of span: JSONSpan, at pointer: String, _ body: (_ reader: inout JSONObjectReader, _ member: Member) -> Void
    ) {
        var scanner = JSONScanner(bytes, range: span.range)
        // The whole text has been checked: it cannot fail again.
        try? scanner.members { (name, value) throws(JSONSyntaxError) in
            let name = JSONScanner(bytes).text(of: name)
            let place = "\(pointer)/\(name.escapedForJSONPointer)"
            body(&self, Member(name: name, value: value, pointer: place))
        }
    }
}
