/// A JSON value (RFC 8259) as a tree. Members keep their order, and numbers keep the digits that they were written
/// with.
package enum JSONValue: Sendable, Hashable {
    package struct Member: Sendable, Hashable {
        package let name: String
        package let value: JSONValue

        package init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    case null
    case boolean(Bool)
    /// The digits as they were written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// Reads one document. Repeated members are kept.
    ///
    /// - Throws: ``JSONSyntaxError`` for a text that ``JSONScanner`` refuses.
    package init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        self = try Self.read(bytes, TreeReader())
    }

    /// Reads one document that must mean the same to every reader (I-JSON, RFC 7493): no object has two members of one
    /// name, and each number is a finite IEEE 754 double.
    ///
    /// - Parameters:
    ///   - maxDepth: how deep arrays and objects may nest.
    ///   - maxMembers: how many members an object may have.
    /// - Throws: ``JSONSyntaxError`` for any other text.
    package init(strict bytes: [UInt8], maxDepth: Int = 16, maxMembers: Int = 256) throws(JSONSyntaxError) {
        self = try Self.read(bytes, TreeReader(isStrict: true, maxDepth: maxDepth, maxMembers: maxMembers))
    }

    /// Reads one document; `nil` for a text that is not JSON.
    package init?(text: String) {
        guard let value = try? JSONValue(Array(text.utf8)) else { return nil }
        self = value
    }

    private static func read(_ bytes: [UInt8], _ reader: TreeReader) throws(JSONSyntaxError) -> JSONValue {
        try bytes.withUnsafeBufferPointer { (bytes) throws(JSONSyntaxError) in
            var scanner = JSONScanner(bytes)
            return try reader.value(of: try scanner.document(), in: bytes, depth: 0)
        }
    }
}

extension JSONValue {
    package var members: [Member]? { if case .object(let members) = self { members } else { nil } }

    package var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    package var text: String? { if case .string(let text) = self { text } else { nil } }

    package var boolean: Bool? { if case .boolean(let boolean) = self { boolean } else { nil } }

    /// The nearest double of a number; `nil` for another value, and for a number that no finite double is near to.
    package var number: Double? {
        guard case .number(let digits) = self, let number = Double(digits), number.isFinite else { return nil }
        return number
    }

    /// The first member of this name, byte for byte, even if its value is null; `nil` if there is none.
    package subscript(_ name: String) -> JSONValue? {
        members?.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
    }

    /// The last member of this name in any case (ASCII); `nil` if there is none, and if its value is null.
    package subscript(ignoringCase name: String) -> JSONValue? {
        let value = members?.last { $0.name.equalsIgnoringASCIICase(name) }?.value
        return value == .null ? nil : value
    }

    /// Joins two values: objects member by member, at any depth. Otherwise the other value wins. It is JSON Merge Patch
    /// (RFC 7396), except that `null` is a value and removes nothing.
    package func merging(_ other: JSONValue) -> JSONValue {
        guard let mine = members, let theirs = other.members else { return other }
        var merged = mine
        for member in theirs {
            if let index = merged.firstIndex(where: { $0.name.utf8.elementsEqual(member.name.utf8) }) {
                merged[index] = Member(merged[index].name, merged[index].value.merging(member.value))
            } else {
                merged.append(member)
            }
        }
        return .object(merged)
    }

    /// The value as JSON text without blanks.
    package var json: String {
        var writer = JSONWriter()
        writer.value(self)
        return writer.text
    }
}

extension JSONWriter {
    package mutating func value(_ value: JSONValue) {
        switch value {
        case .null: null()
        case .boolean(let boolean): self.boolean(boolean)
        case .number(let digits): json(digits.utf8)
        case .string(let text): string(text)
        case .array(let elements): array { array in for element in elements { array.value(element) } }
        case .object(let members): object { object in for member in members { object.member(member) } }
        }
    }

    package mutating func member(_ member: JSONValue.Member) {
        self.member(member.name)
        value(member.value)
    }
}

/// Makes trees of texts that a scanner has checked.
private struct TreeReader {
    var isStrict = false
    var maxDepth = JSONScanner.maxDepth
    var maxMembers = Int.max

    func value(
        of span: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>, depth: Int
    ) throws(JSONSyntaxError) -> JSONValue {
        switch span.kind {
        case .null: return .null
        case .boolean: return .boolean(bytes[span.range.lowerBound] == UInt8(ascii: "t"))
        case .number:
            let digits = String(decoding: UnsafeBufferPointer(rebasing: bytes[span.range]), as: UTF8.self)
            if isStrict, Double(digits)?.isFinite != true { throw refusal("A number is too large", span) }
            return .number(digits)
        case .string: return .string(JSONScanner(bytes).text(of: span))
        case .array:
            guard depth < maxDepth else { throw refusal("Nested deeper than \(maxDepth)", span) }
            var elements: [JSONValue] = []
            for element in JSONElements(of: span, in: bytes) {
                elements.append(try value(of: element, in: bytes, depth: depth + 1))
            }
            return .array(elements)
        case .object:
            guard depth < maxDepth else { throw refusal("Nested deeper than \(maxDepth)", span) }
            return .object(try members(of: span, in: bytes, depth: depth))
        }
    }

    private func members(
        of span: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>, depth: Int
    ) throws(JSONSyntaxError) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = []
        // Bytes: equal strings can have different ones.
        var names: Set<[UInt8]> = []
        for (nameSpan, valueSpan) in JSONMembers(of: span, in: bytes) {
            let name = JSONScanner(bytes).text(of: nameSpan)
            guard members.count < maxMembers else { throw refusal("An object has too many members", span) }
            if isStrict, !names.insert(Array(name.utf8)).inserted {
                throw refusal("A member is repeated", nameSpan)
            }
            members.append(JSONValue.Member(name, try value(of: valueSpan, in: bytes, depth: depth + 1)))
        }
        return members
    }

    private func refusal(_ message: String, _ span: JSONSpan) -> JSONSyntaxError {
        JSONSyntaxError(message: message, offset: span.range.lowerBound)
    }
}
