import SecurePushCore

/// A JSON value (RFC 8259) whose members keep their order and whose numbers stay as they were written.
enum JSONValue: Equatable, Sendable {
    struct Member: Equatable, Sendable {
        let name: String
        let value: JSONValue
    }

    case null
    case boolean(Bool)
    /// The number's digits as written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    /// Reads one document.
    init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        self = try bytes.withUnsafeBufferPointer { (pointer) throws(JSONSyntaxError) in
            var scanner = JSONScanner(pointer)
            return try Self.read(try scanner.document(), in: pointer)
        }
    }

    /// Nil for a text that is not JSON.
    init?(text: String) {
        guard let value = try? JSONValue(Array(text.utf8)) else { return nil }
        self = value
    }

    /// The members of an object; nil for every other value.
    var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }

    /// The elements of an array; nil for every other value.
    var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    /// The text of a string; nil for every other value.
    var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The last member of this name, in any case; nil when it is absent or null.
    subscript(_ name: String) -> JSONValue? {
        let value = members?.last { $0.name == name || $0.name.lowercased() == name.lowercased() }?.value
        return value == .null ? nil : value
    }

    /// As JSON text without blanks.
    var json: String {
        var output = ""
        write(to: &output)
        return output
    }

    func write(to output: inout String) {
        switch self {
        case .null: output += "null"
        case .boolean(let boolean): output += boolean ? "true" : "false"
        case .number(let digits): output += digits
        case .string(let text): JSONText.append(text, to: &output)
        case .array(let elements):
            output += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { output += "," }
                element.write(to: &output)
            }
            output += "]"
        case .object(let members):
            output += "{"
            for (index, member) in members.enumerated() {
                if index > 0 { output += "," }
                JSONText.append(member.name, to: &output)
                output += ":"
                member.value.write(to: &output)
            }
            output += "}"
        }
    }

    private static func read(
        _ span: JSONSpan, in bytes: UnsafeBufferPointer<UInt8>
    ) throws(JSONSyntaxError) -> JSONValue {
        var scanner = JSONScanner(bytes, range: span.range)
        switch span.kind {
        case .null: return .null
        case .boolean: return .boolean(bytes[span.range.lowerBound] == UInt8(ascii: "t"))
        case .number: return .number(String(decoding: scanner.bytes(of: span), as: UTF8.self))
        case .string: return .string(scanner.text(of: span))
        case .array:
            var spans: [JSONSpan] = []
            try scanner.elements { spans.append($0) }
            var elements: [JSONValue] = []
            for element in spans { elements.append(try read(element, in: bytes)) }
            return .array(elements)
        case .object:
            var spans: [(name: JSONSpan, value: JSONSpan)] = []
            try scanner.members { (name, value) throws(JSONSyntaxError) in spans.append((name, value)) }
            var members: [Member] = []
            for member in spans {
                members.append(Member(name: scanner.text(of: member.name), value: try read(member.value, in: bytes)))
            }
            return .object(members)
        }
    }
}
