import NIOCore
import SecurePushCore
import ServiceRuntime

/// The body of `PUT /api/register/{id}`: `{"Platform","Handle","Tags"}`, read and checked.
struct RegistrationRequest: Sendable {
    var platform = RegistrationPlatform.apns
    var handle = ""
    var tags: [String] = []

    enum Limit {
        static let bodyBytes = 64 * 1024
        /// The longest channel URI of the vendors is far below.
        static let handleBytes = 4096
        /// The hub's limit, the user's own tag included.
        static let tags = 59
        static let tagCharacters = 120
    }

    /// - Throws: ``Problem``: 400 for what is not JSON, 422 naming every offending member.
    init(_ body: ByteBuffer) throws {
        let issues: [Problem.Member]
        do {
            issues = try body.withUnsafeReadableBytes { bytes throws in
                try read(bytes.assumingMemoryBound(to: UInt8.self))
            }
        } catch let error as JSONSyntaxError {
            throw Problem.badRequest("The body is not JSON: \(error).")
        }
        guard issues.isEmpty else {
            throw Problem.unprocessable("Some members are not as they must be.", errors: issues)
        }
    }

    /// What is wrong with a handle, or `nil`.
    static func issue(ofHandle handle: String) -> String? {
        guard (1...Limit.handleBytes).contains(handle.utf8.count),
            handle.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F })
        else { return "A handle is 1 to 4,096 bytes without control characters." }
        return nil
    }

    /// What is wrong with a client's tag, or `nil`. The user's own tag is the server's to give.
    static func issue(ofTag tag: String) -> String? {
        let allowed = tag.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "_@#.:-".unicodeScalars.contains(scalar)
        }
        // By scalars, for a mark after the colon would make it another character; and folded through upper case, for
        // some letters, such as the long s, are ASCII ones to whoever compares so.
        let folded = tag.uppercased().lowercased().unicodeScalars
        if folded.starts(with: "username:".unicodeScalars) || folded.first == "$" {
            return "The tag is reserved."
        }
        guard !tag.isEmpty, tag.utf16.count <= Limit.tagCharacters, allowed else {
            return "A tag is 1 to 120 letters, digits and _ @ # . : -"
        }
        return nil
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) throws -> [Problem.Member] {
        var scanner = JSONScanner(bytes)
        let document = try scanner.document()
        guard document.kind == .object else {
            return [.init(pointer: "", detail: "The body must be an object, not \(document.kind.phrase).")]
        }
        var issues: [Problem.Member] = []
        var seen: Set<String> = []
        var members: [(JSONSpan, JSONSpan)] = []
        var object = JSONScanner(bytes, range: document.range)
        try object.members { (name, value) throws(JSONSyntaxError) in members.append((name, value)) }
        let text = JSONScanner(bytes)
        for (name, value) in members {
            let name = text.text(of: name)
            guard let known = ["Platform", "Handle", "Tags"].first(where: { $0.equalsIgnoringASCIICase(name) }) else {
                issues.append(.init(pointer: "/" + name.escapedForJSONPointer, detail: "There is no such member."))
                continue
            }
            guard seen.insert(known).inserted else {
                issues.append(.init(pointer: "/" + known, detail: "The member is repeated."))
                continue
            }
            issues += read(known, value, bytes)
        }
        for required in ["Platform", "Handle"] where !seen.contains(required) {
            issues.append(.init(pointer: "/" + required, detail: "The member is required."))
        }
        return issues
    }

    private mutating func read(
        _ member: String, _ value: JSONSpan, _ bytes: UnsafeBufferPointer<UInt8>
    ) -> [Problem.Member] {
        switch member {
        case "Tags": return readTags(value, bytes)
        case "Platform":
            let names = RegistrationPlatform.allCases.map(\.rawValue).joined(separator: ", ")
            guard value.kind == .string,
                let platform = RegistrationPlatform(rawValue: JSONScanner(bytes).text(of: value))
            else { return [.init(pointer: "/Platform", detail: "The platform must be one of: \(names).")] }
            self.platform = platform
        default:
            guard value.kind == .string else {
                return [.init(pointer: "/Handle", detail: "The value must be a string, not \(value.kind.phrase).")]
            }
            handle = JSONScanner(bytes).text(of: value)
            if let issue = Self.issue(ofHandle: handle) { return [.init(pointer: "/Handle", detail: issue)] }
        }
        return []
    }

    private mutating func readTags(_ value: JSONSpan, _ bytes: UnsafeBufferPointer<UInt8>) -> [Problem.Member] {
        if value.kind == .null { return [] }
        guard value.kind == .array else {
            return [.init(pointer: "/Tags", detail: "The value must be an array, not \(value.kind.phrase).")]
        }
        var elements: [JSONSpan] = []
        var scanner = JSONScanner(bytes, range: value.range)
        // Checked already: it cannot fail again.
        try? scanner.elements { elements.append($0) }
        guard elements.count <= Limit.tags else {
            return [.init(pointer: "/Tags", detail: "There may be at most 60 tags, the user's own included.")]
        }
        var issues: [Problem.Member] = []
        for (index, element) in elements.enumerated() {
            let pointer = "/Tags/\(index)"
            guard element.kind == .string else {
                issues.append(.init(pointer: pointer, detail: "A tag must be a string, not \(element.kind.phrase)."))
                continue
            }
            let tag = JSONScanner(bytes).text(of: element)
            if let issue = Self.issue(ofTag: tag) { issues.append(.init(pointer: pointer, detail: issue)) }
            tags.append(tag)
        }
        return issues
    }
}
