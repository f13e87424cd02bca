/// A JSON value as tokens and key sets use it.
enum JSONValue {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    var string: String? { if case .string(let text) = self { text } else { nil } }

    var number: Double? { if case .number(let number) = self { number } else { nil } }

    var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

    var object: JSONObject? { if case .object(let object) = self { object } else { nil } }
}

/// The members of a JSON object; names are compared byte for byte, and no name is there twice.
struct JSONObject {
    struct Member {
        let name: String
        let value: JSONValue
    }

    private(set) var members: [Member] = []

    subscript(name: StaticString) -> JSONValue? {
        name.withUTF8Buffer { wanted in members.first { $0.name.utf8.elementsEqual(wanted) }?.value }
    }

    /// - Returns: whether the name was new.
    mutating func insert(_ name: String, _ value: JSONValue) -> Bool {
        guard !members.contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else { return false }
        members.append(Member(name: name, value: value))
        return true
    }
}
