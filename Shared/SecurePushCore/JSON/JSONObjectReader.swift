/// Reads JSON objects member by member, and notes every mistake instead of stopping at the first.
///
/// Names are compared without regard to case (ASCII) and reported in the spelling of the contract. The reader notes
/// members that are unknown, repeated or missing, and values of the wrong kind. It goes on after each, so that one
/// answer can name all of them.
///
/// Small objects are read with ``members(of:at:known:required:)``. Where the issues must be noted in the order of the
/// text, or where an array may be long, read step by step: ``object(_:at:known:)`` with ``next(_:)``, and
/// ``array(_:at:)``.
package struct JSONObjectReader {
    /// One mistake.
    package typealias Issue = MemberIssues.Issue

    /// A member that was found.
    package struct Member: Sendable, Hashable {
        /// The name in the spelling of the contract; a free name in the spelling of the text.
        package let name: String
        /// Where the value is in the text.
        package let value: JSONSpan
        fileprivate let parent: String
        /// Where the member is in the document (RFC 6901).
        package var pointer: String { "\(parent)/\(name.escapedForJSONPointer)" }
    }

    /// The rest of an object that is read step by step; see ``JSONObjectReader/next(_:)``.
    package struct Members {
        fileprivate var rest: JSONMembers
        fileprivate let pointer: String
        fileprivate let known: [String]
        fileprivate var isFound: [Bool]

        /// Whether a known member has been found so far.
        package func contains(_ name: String) -> Bool {
            known.firstIndex(of: name).map { isFound[$0] } ?? false
        }
    }

    private let bytes: UnsafeBufferPointer<UInt8>
    /// The one value of the document.
    package let root: JSONSpan
    /// The issues so far, and the number of those that are not listed.
    package private(set) var memberIssues = MemberIssues()
    /// The listed issues, in the order in which they were found.
    package var issues: [Issue] { memberIssues.entries }

    /// Checks the text.
    ///
    /// - Parameter bytes: the text; the pointer must outlive the reader.
    /// - Throws: ``JSONSyntaxError`` for a text that is not JSON.
    package init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) {
        var scanner = JSONScanner(bytes)
        root = try scanner.document()
        self.bytes = bytes
    }

    /// Notes an issue.
    package mutating func note(_ pointer: String, _ detail: String) {
        memberIssues.note(pointer, detail)
    }

    // MARK: Objects

    /// The members of an object whose names are known, each once.
    ///
    /// - Parameters:
    ///   - pointer: where the object is in the document; empty for the root.
    ///   - known: the names in the spelling of the contract.
    ///   - required: the names that must be present.
    package mutating func members(
        of span: JSONSpan, at pointer: String = "", known: [String], required: [String] = []
    ) -> [Member] {
        guard var rest = object(span, at: pointer, known: known) else { return [] }
        var found: [Member] = []
        while let member = next(&rest) { found.append(member) }
        require(required, in: rest)
        return found
    }

    /// Begins to read an object whose names are known; `nil`, and an issue, for another value.
    package mutating func object(_ span: JSONSpan, at pointer: String = "", known: [String]) -> Members? {
        guard expect(.object, span, at: pointer) else { return nil }
        return Members(
            rest: JSONMembers(of: span, in: bytes), pointer: pointer, known: known,
            isFound: Array(repeating: false, count: known.count))
    }

    /// The next known member that is not a repetition; `nil` at the end. Notes the unknown and the repeated ones.
    package mutating func next(_ members: inout Members) -> Member? {
        while let (nameSpan, value) = members.rest.next() {
            let given = text(of: nameSpan)
            guard let index = members.known.firstIndex(where: { $0.equalsIgnoringASCIICase(given) }) else {
                note("\(members.pointer)/\(given.escapedForJSONPointer)", "There is no such member.")
                continue
            }
            let member = Member(name: members.known[index], value: value, parent: members.pointer)
            guard !members.isFound[index] else {
                note(member.pointer, "The member is repeated.")
                continue
            }
            members.isFound[index] = true
            return member
        }
        return nil
    }

    /// Notes the names that were not found. Call it at the end of the object.
    package mutating func require(_ names: [String], in members: Members) {
        for name in names where !members.contains(name) {
            note("\(members.pointer)/\(name)", "The member is required.")
        }
    }

    /// The members of an object whose names are free, each once. Names are compared byte for byte.
    package mutating func freeMembers(of span: JSONSpan, at pointer: String) -> [Member] {
        guard expect(.object, span, at: pointer) else { return [] }
        var names: Set<[UInt8]> = []
        var found: [Member] = []
        for (nameSpan, value) in JSONMembers(of: span, in: bytes) {
            let member = Member(name: text(of: nameSpan), value: value, parent: pointer)
            if names.insert(Array(member.name.utf8)).inserted {
                found.append(member)
            } else {
                note(member.pointer, "The member is repeated.")
            }
        }
        return found
    }

    // MARK: Values

    /// The elements of an array, found one by one; `nil`, and an issue, for another value.
    package mutating func array(_ span: JSONSpan, at pointer: String) -> JSONElements? {
        expect(.array, span, at: pointer) ? JSONElements(of: span, in: bytes) : nil
    }

    /// The elements of an array; empty, and an issue, for another value.
    package mutating func elements(of span: JSONSpan, at pointer: String) -> [JSONSpan] {
        array(span, at: pointer).map { Array($0) } ?? []
    }

    /// The text of a string; `nil`, and an issue, for another value.
    package mutating func string(_ span: JSONSpan, at pointer: String) -> String? {
        expect(.string, span, at: pointer) ? text(of: span) : nil
    }

    /// The value of a boolean; `nil`, and an issue, for another value.
    package mutating func boolean(_ span: JSONSpan, at pointer: String) -> Bool? {
        expect(.boolean, span, at: pointer) ? bytes[span.range.lowerBound] == UInt8(ascii: "t") : nil
    }

    /// A number within a range; `nil`, and an issue, for another value.
    package mutating func number(_ span: JSONSpan, at pointer: String, in range: ClosedRange<Double>) -> Double? {
        guard expect(.number, span, at: pointer) else { return nil }
        if let number = Double(text(of: span)), range.contains(number) { return number }
        note(pointer, "The value must be a number from \(range.lowerBound) to \(range.upperBound).")
        return nil
    }

    /// A whole number within a range; `nil`, and an issue, for another value. `7.0` and `7e0` are 7.
    package mutating func integer(_ span: JSONSpan, at pointer: String, in range: ClosedRange<Int>) -> Int? {
        guard expect(.number, span, at: pointer) else { return nil }
        let digits = text(of: span)
        if let number = Int(digits) ?? Double(digits).flatMap(Int.init(exactly:)), range.contains(number) {
            return number
        }
        note(pointer, "The value must be a whole number from \(range.lowerBound) to \(range.upperBound).")
        return nil
    }

    /// One of the raw values of an enumeration; `nil`, and an issue, for another value.
    ///
    /// - Parameter ignoringCase: whether the case of ASCII letters does not matter.
    package mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ span: JSONSpan, at pointer: String, of type: Choice.Type = Choice.self, ignoringCase: Bool = false
    ) -> Choice? {
        guard let text = string(span, at: pointer) else { return nil }
        let choice = Choice.allCases.first { choice in
            ignoringCase ? choice.rawValue.equalsIgnoringASCIICase(text) : choice.rawValue.utf8.elementsEqual(text.utf8)
        }
        if choice == nil {
            note(pointer, "The value must be one of: \(Choice.allCases.map(\.rawValue).joined(separator: ", ")).")
        }
        return choice
    }

    /// The bytes of a value exactly as they are in the text.
    package func bytes(of span: JSONSpan) -> [UInt8] { JSONScanner(bytes).bytes(of: span) }

    /// The text of a string with its escapes resolved; for another value its JSON.
    package func text(of span: JSONSpan) -> String {
        if span.kind == .string { return JSONScanner(bytes).text(of: span) }
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[span.range]), as: UTF8.self)
    }

    private mutating func expect(_ kind: JSONSpan.Kind, _ span: JSONSpan, at pointer: String) -> Bool {
        if span.kind == kind { return true }
        let subject = pointer.isEmpty ? "body" : "value"
        note(pointer, "The \(subject) must be \(kind.phrase), not \(span.kind.phrase).")
        return false
    }
}

/// The issues of a request's members, in the order in which they were found: each once, and at most ``maxEntries`` of
/// them, so that a refusal costs little.
package struct MemberIssues: Sendable, Hashable {
    /// One offending member.
    package struct Issue: Sendable, Hashable {
        /// The member (RFC 6901); empty for the whole document.
        package let pointer: String
        /// The error in it, for the client.
        package let detail: String

        /// Makes an issue.
        package init(pointer: String, detail: String) {
            self.pointer = pointer
            self.detail = detail
        }

        /// An issue whose pointer is short enough to be sent back, because the names in it come from the client.
        fileprivate init(shortening pointer: String, _ detail: String) {
            guard pointer.utf8.count > MemberIssues.maxPointerBytes else {
                self.init(pointer: pointer, detail: detail)
                return
            }
            // A cut within a character or an escape would point at nothing, so the cut is made at a slash.
            let start = pointer.utf8.prefix(MemberIssues.maxPointerBytes + 1)
            let end = start.lastIndex(of: UInt8(ascii: "/")) ?? start.startIndex
            let note = " This concerns a member of it, whose name is too long to be repeated."
            self.init(pointer: String(pointer[..<end]), detail: detail + note)
        }
    }

    /// The maximum number of issues that are listed. Further ones are only counted.
    package static let maxEntries = 100
    /// The maximum length of a pointer that is sent to the client, in bytes. A longer one ends at the member around it.
    package static let maxPointerBytes = 512

    /// The first issues, at most ``maxEntries``.
    package private(set) var entries: [Issue] = []
    /// How many more were found.
    package private(set) var omitted = 0
    private var known: Set<Issue> = []

    /// No issues.
    package init() {}

    /// Whether nothing was noted.
    package var isEmpty: Bool { entries.isEmpty }

    /// The first issues that have at most this number of bytes as JSON together; the others are only counted.
    package func first(bytes: Int) -> MemberIssues {
        var first = self
        var rest = bytes
        let fitting = entries.prefix { issue in
            rest -= JSONText.quoted(issue.pointer).utf8.count + JSONText.quoted(issue.detail).utf8.count
            rest -= Self.memberBytes
            return rest >= 0
        }
        first.entries = Array(fitting)
        first.omitted += entries.count - fitting.count
        return first
    }

    /// The bytes of `{"pointer":,"detail":},`.
    private static let memberBytes = 24

    /// Adds an issue, unless the same one is listed already.
    package mutating func note(_ pointer: String, _ detail: String) {
        let issue = Issue(shortening: pointer, detail)
        if known.contains(issue) { return }
        guard entries.count < Self.maxEntries else { return omitted += 1 }
        known.insert(issue)
        entries.append(issue)
    }
}

extension String {
    /// Whether two texts are equal if the case of ASCII letters does not matter.
    package func equalsIgnoringASCIICase(_ other: String) -> Bool {
        utf8.count == other.utf8.count
            && zip(utf8, other.utf8).allSatisfy { left, right in
                left == right || (left | 0x20 == right | 0x20 && (0x61...0x7A).contains(left | 0x20))
            }
    }

    /// A name as a token of a JSON pointer (RFC 6901, section 3).
    package var escapedForJSONPointer: String {
        guard utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else { return self }
        var escaped = ""
        for character in unicodeScalars {
            switch character {
            case "~": escaped += "~0"
            case "/": escaped += "~1"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
