import SecurePushCore

/// Writes a JSON object member by member, without blanks.
struct JSONWriter {
    private var members = ""

    var text: String { "{\(members)}" }

    mutating func add(_ name: String, _ value: String) { add(name, json: JSONText.quoted(value)) }

    mutating func add(_ name: String, _ value: Int64) { add(name, json: String(value)) }

    mutating func add(_ name: String, _ values: [String]) {
        add(name, json: "[" + values.map(JSONText.quoted).joined(separator: ",") + "]")
    }

    /// Adds a value that is JSON already.
    mutating func add(_ name: String, json: String) {
        if !members.isEmpty { members += "," }
        members += JSONText.quoted(name) + ":" + json
    }
}
