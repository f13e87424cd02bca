import Foundation

/// A JSON value as a tree, for looking into documents; numbers are as exact as a `Double`.
package indirect enum JSONNode: Sendable, Hashable {
    case null
    case boolean(Bool)
    case number(Double)
    case string(String)
    case array([JSONNode])
    case object([String: JSONNode])

    /// - Throws: `DecodingError` for what is not JSON.
    package init(_ bytes: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(JSONNode.self, from: Data(bytes))
    }

    /// The member of an object.
    package subscript(_ name: String) -> JSONNode? { members[name] }

    /// The members of an object; none of another value.
    package var members: [String: JSONNode] {
        if case .object(let members) = self { members } else { [:] }
    }

    /// The elements of an array; none of another value.
    package var elements: [JSONNode] {
        if case .array(let elements) = self { elements } else { [] }
    }

    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    package var number: Double? {
        if case .number(let number) = self { number } else { nil }
    }

    /// The value at the end of a path of members' names.
    package func at(_ path: [String]) -> JSONNode? {
        path.reduce(self as JSONNode?) { node, name in node?[name] }
    }

    /// Without the member at the end of a path of members' names.
    package func removing(_ path: [String]) -> JSONNode {
        guard let name = path.first, case .object(var members) = self else { return self }
        if path.count == 1 {
            members[name] = nil
        } else {
            members[name] = members[name]?.removing(Array(path.dropFirst()))
        }
        return .object(members)
    }
}

extension JSONNode: Decodable {
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONNode].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONNode].self))
        }
    }
}

extension JSONNode: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    /// The value as JSON text.
    package func json() throws -> String { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
}
