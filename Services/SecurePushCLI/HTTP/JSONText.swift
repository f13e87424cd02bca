import Foundation
import SecurePushCore

/// JSON as text, for what is sent and printed.
enum JSONText {
    /// A value on one line, members in alphabetical order.
    static func encode(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// An object of members whose values are JSON already, in this order.
    static func object(_ members: [(name: String, json: String)]) throws -> String {
        "{" + (try members.map { "\(try encode($0.name)):\($0.json)" }).joined(separator: ",") + "}"
    }

    /// Whether a text is one JSON value.
    static func isValid(_ text: String) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            var scanner = JSONScanner(bytes)
            return (try? scanner.document()) != nil
        }
    }

    /// The value of a member of a valid object, as it was written: numbers keep their digits, which decoding would
    /// not promise. `nil` where the text is no object or has no such member.
    static func member(_ name: String, of text: String) -> String? {
        Array(text.utf8).withUnsafeBufferPointer { bytes in
            guard var reader = try? JSONObjectReader(bytes), reader.root.kind == .object else { return nil }
            let member = reader.freeMembers(of: reader.root, at: "").last { $0.name == name }
            return member.map { String(decoding: JSONScanner(bytes).bytes(of: $0.value), as: UTF8.self) }
        }
    }

    /// The text of a JSON string, or `nil` for another value.
    static func string(_ json: String) -> String? {
        try? JSONDecoder().decode(String.self, from: Data(json.utf8))
    }
}
