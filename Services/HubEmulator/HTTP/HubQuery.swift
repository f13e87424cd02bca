/// The query of a request to the hub: names in any case, and escaped names (`%24top`) as good as plain ones.
struct HubQuery: Sendable {
    private let values: [String: String]

    init(_ query: String?) {
        var values: [String: String] = [:]
        for part in (query ?? "").split(separator: "&") {
            let equals = part.firstIndex(of: "=") ?? part.endIndex
            let name = PercentDecoding.decode(part[..<equals], plusIsBlank: true).lowercased()
            let value = part[equals...].dropFirst()
            values[name] = values[name] ?? PercentDecoding.decode(value, plusIsBlank: true)
        }
        self.values = values
    }

    /// The value of a parameter by its lower-case name; empty when it stands without `=`.
    subscript(_ name: String) -> String? { values[name] }

    /// Whether a switch such as `direct` is on: written alone, with nothing after `=`, or with anything but `false`.
    func isOn(_ name: String) -> Bool {
        values[name].map { $0.lowercased() != "false" } ?? false
    }
}
