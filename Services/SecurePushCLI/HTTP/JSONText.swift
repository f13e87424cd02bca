import Foundation

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
        var scanner = JSONScanner(text)
        return scanner.isValue()
    }

    /// The value of a member of a valid object, as it was written: numbers keep their digits, which decoding would
    /// not promise. `nil` where the text is no object or has no such member.
    static func member(_ name: String, of text: String) -> String? {
        var scanner = JSONScanner(text)
        return scanner.members()?.last { string($0.name) == name }?.value
    }

    /// The text of a JSON string, or `nil` for another value.
    static func string(_ json: String) -> String? {
        try? JSONDecoder().decode(String.self, from: Data(json.utf8))
    }
}
