/// Writes a JSON object member by member, without blanks.
struct JSONWriter {
    private var members = ""

    var text: String { "{\(members)}" }

    mutating func add(_ name: String, _ value: String) { add(name, json: Self.quote(value)) }

    mutating func add(_ name: String, _ value: Int64) { add(name, json: String(value)) }

    mutating func add(_ name: String, _ values: [String]) {
        add(name, json: "[" + values.map(Self.quote).joined(separator: ",") + "]")
    }

    /// Adds a value that is JSON already.
    mutating func add(_ name: String, json: String) {
        if !members.isEmpty { members += "," }
        members += Self.quote(name) + ":" + json
    }

    private static func quote(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case "\u{0}"..<"\u{10}": quoted += "\\u000" + String(scalar.value, radix: 16)
            case "\u{10}"..<"\u{20}": quoted += "\\u00" + String(scalar.value, radix: 16)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
