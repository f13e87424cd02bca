/// Reads a JSON text by rules, and notes every mistake instead of stopping at the first.
///
/// An object is read by a closure that asks for one member after the other, with ``required(_:_:)`` and
/// ``optional(_:_:)``. Names are compared without regard to case (ASCII) and reported in the spelling of the contract.
/// The reader notes members that are missing or repeated, values that their ``JSONRule`` refuses, and at the end of an
/// object the members that were not read.
package struct JSONObjectReader {
    /// The value that is being read: the document, or the member or element whose rule is called.
    package private(set) var value: JSONSpan
    package private(set) var memberIssues = MemberIssues()
    /// The listed issues, in the order in which they were found.
    package var issues: [MemberIssues.Issue] { memberIssues.entries }
    private let bytes: UnsafeBufferPointer<UInt8>
    /// Of the object that is being read.
    private var members: JSONKnownMembers?
    /// The way from the document to ``value``.
    private var path: [Step] = []

    private enum Step {
        case member(StaticString)
        /// A name of the client's choice.
        case name(JSONSpan)
        case index(Int)
    }

    /// - Parameter bytes: the text; the pointer must outlive the reader.
    /// - Throws: ``JSONSyntaxError`` for a text that is not JSON.
    package init(_ bytes: UnsafeBufferPointer<UInt8>) throws(JSONSyntaxError) {
        var scanner = JSONScanner(bytes)
        value = try scanner.document()
        self.bytes = bytes
    }

    // MARK: Issues

    /// Notes an issue of ``value``.
    package mutating func note(_ detail: String) { memberIssues.note(pointer(), detail) }

    /// Notes an issue of a member of ``value``.
    package mutating func note(_ detail: String, at name: StaticString) { note(detail, at: .member(name)) }

    private mutating func note(_ detail: String, at step: Step) { memberIssues.note(pointer(step), detail) }

    /// Where ``value``, or something in it, is in the document (RFC 6901).
    private func pointer(_ last: Step? = nil) -> String {
        var pointer = ""
        func append(_ step: Step) {
            pointer += "/"
            switch step {
            case .member(let name): pointer += name.description
            case .name(let name): pointer += text(of: name).escapedForJSONPointer
            case .index(let index): pointer += String(index)
            }
        }
        path.forEach(append)
        if let last { append(last) }
        return pointer
    }

    // MARK: Members

    /// The value of a member that must be there, even if it is `null`; `nil`, and an issue, if it is missing or if its
    /// rule refuses it.
    package mutating func required<Value>(_ name: StaticString, _ rule: @autoclosure () -> JSONRule<Value>) -> Value? {
        guard let span = take(name) else {
            note("The member is required.", at: name)
            return nil
        }
        return below(span, .member(name)) { rule().read(&$0) }
    }

    /// The value of a member that may be missing or `null`; `nil`, and an issue, if its rule refuses it.
    package mutating func optional<Value>(_ name: StaticString, _ rule: @autoclosure () -> JSONRule<Value>) -> Value? {
        guard let span = take(name), span.kind != .null else { return nil }
        return below(span, .member(name)) { rule().read(&$0) }
    }

    /// Accepts members with any value.
    package mutating func ignore(_ names: StaticString...) {
        for name in names { _ = take(name) }
    }

    /// Whether there is a member of this name.
    ///
    /// - Parameter isNull: whether it may be `null`.
    package func contains(_ name: StaticString, isNull: Bool = true) -> Bool {
        members?.first(name).map { isNull || $0.kind != .null } ?? false
    }

    private mutating func take(_ name: StaticString) -> JSONSpan? {
        guard let found = members?.take(name) else { return nil }
        if found.isRepeated { note("The member is repeated.", at: name) }
        return found.value
    }

    // MARK: Values

    package mutating func read<Value>(_ rule: JSONRule<Value>) -> Value? { rule.read(&self) }

    private mutating func below<Result>(
        _ span: JSONSpan, _ step: Step, _ read: (inout JSONObjectReader) -> Result
    ) -> Result {
        let outer = value
        value = span
        path.append(step)
        defer {
            path.removeLast()
            value = outer
        }
        return read(&self)
    }

    /// Whether ``value`` is of a kind; notes an issue if it is not.
    package mutating func expect(_ kind: JSONSpan.Kind) -> Bool {
        if value.kind == kind { return true }
        note("The \(path.isEmpty ? "body" : "value") must be \(kind.phrase), not \(value.kind.phrase).")
        return false
    }

    /// Reads an object whose names are known; `nil`, and an issue, for another value.
    package mutating func object<Value>(_ read: (inout JSONObjectReader) -> Value?) -> Value? {
        guard expect(.object) else { return nil }
        let outer = members
        members = JSONKnownMembers(of: value, in: bytes)
        let result = read(&self)
        members?.forEachUnknown { note("There is no such member.", at: .name($0)) }
        members = outer
        return result
    }

    /// Reads an object whose names are free; notes an issue for another value, and for names that are repeated. They
    /// are compared byte for byte.
    ///
    /// - Parameter read: called with each name, while the member's value is ``value``.
    package mutating func freeMembers(_ read: (_ name: String, inout JSONObjectReader) -> Void) {
        guard expect(.object) else { return }
        var names: Set<[UInt8]> = []
        for (nameSpan, span) in JSONMembers(of: value, in: bytes) {
            let name = text(of: nameSpan)
            if names.insert(Array(name.utf8)).inserted {
                below(span, .name(nameSpan)) { read(name, &$0) }
            } else {
                note("The member is repeated.", at: .name(nameSpan))
            }
        }
    }

    /// The number of elements of an array; `nil`, and an issue, for another value.
    package mutating func count() -> Int? {
        expect(.array) ? JSONElements(of: value, in: bytes).reduce(0) { count, _ in count + 1 } : nil
    }

    /// Reads an array; notes an issue for another value.
    ///
    /// - Parameter read: called for each element, while it is ``value``.
    package mutating func elements(_ read: (inout JSONObjectReader) -> Void) {
        guard expect(.array) else { return }
        for (index, span) in JSONElements(of: value, in: bytes).enumerated() { below(span, .index(index), read) }
    }

    // MARK: Parts of the text

    /// The bytes of a value exactly as they are in the text.
    package func bytes(of span: JSONSpan) -> [UInt8] { JSONScanner(bytes).bytes(of: span) }

    /// The text of a string with its escapes resolved; for another value its JSON.
    package func text(of span: JSONSpan) -> String {
        if span.kind == .string { return JSONScanner(bytes).text(of: span) }
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[span.range]), as: UTF8.self)
    }

    /// The first member of an object with this name, byte for byte; `nil` for another value, too.
    package func member(_ name: String, of span: JSONSpan) -> JSONSpan? {
        guard span.kind == .object else { return nil }
        return JSONMembers(of: span, in: bytes).first { text(of: $0.name).utf8.elementsEqual(name.utf8) }?.value
    }

    /// The elements of an array; `nil` for another value.
    package func elements(of span: JSONSpan) -> JSONElements? {
        span.kind == .array ? JSONElements(of: span, in: bytes) : nil
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

    package init() {}

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
