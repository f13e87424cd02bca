/// Writes the text exposition format 0.0.4 of Prometheus (`docs/instrumenting/exposition_formats.md`).
struct PrometheusText {
    /// What `Content-Type` says of it.
    static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    private(set) var text = ""

    mutating func family(name: String, kind: MetricKind, help: String?) {
        if let help { text += "# HELP \(name) \(PrometheusText.escaped(help, quotes: false))\n" }
        text += "# TYPE \(name) \(kind.rawValue)\n"
    }

    mutating func sample(_ name: String, _ labels: String, _ value: Double) {
        text += labels.isEmpty ? name : "\(name){\(labels)}"
        text += " \(PrometheusText.number(value))\n"
    }

    /// `name="value",...` in the order of the names.
    static func labels(_ dimensions: [(String, String)]) -> String {
        dimensions.sorted { $0.0 < $1.0 }
            .map { "\(labelName($0.0))=\"\(escaped($0.1, quotes: true))\"" }
            .joined(separator: ",")
    }

    /// Letters, digits, `_` and `:`, not a digit first.
    static func metricName(_ name: String) -> String { identifier(name, colons: true) }

    private static func labelName(_ name: String) -> String { identifier(name, colons: false) }

    private static func identifier(_ name: String, colons: Bool) -> String {
        var result = ""
        for character in name.unicodeScalars {
            let isDigit = ("0"..."9").contains(character)
            let isLetter = ("a"..."z").contains(character) || ("A"..."Z").contains(character) || character == "_"
            if isDigit, result.isEmpty { result += "_" }
            result.unicodeScalars.append(isLetter || isDigit || (colons && character == ":") ? character : "_")
        }
        return result.isEmpty ? "_" : result
    }

    /// Whole numbers without a fraction, the rest in the shortest exact form.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return value.description
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}
