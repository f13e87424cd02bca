/// The query of a request to the hub: names in any case, and escaped names (`%24top`) as good as plain ones.
struct HubQuery: Sendable {
    /// The first of several with one name counts. Names are in lower case. There are few, so a list will do.
    private let values: [(name: String, value: String)]

    init(_ query: String?) {
        values = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = PercentDecoding.decode(Substring(part[..<equals]), plusIsBlank: true)
            let value = PercentDecoding.decode(Substring(part[equals...].dropFirst()), plusIsBlank: true)
            return (name.lowercased(), value)
        }
    }

    /// The value of a parameter by its lower-case name; empty when it stands without `=`.
    subscript(_ name: String) -> String? { values.first { $0.name == name }?.value }

    /// Whether a switch such as `direct` is on: written alone, with nothing after `=`, or with anything but `false`.
    func isOn(_ name: String) -> Bool {
        self[name].map { $0.lowercased() != "false" } ?? false
    }
}
