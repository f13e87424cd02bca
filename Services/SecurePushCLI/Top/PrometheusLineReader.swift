/// Reads a line of the Prometheus text format: `name{label="value",...} 12.5 [timestamp]`.
struct PrometheusLineReader {
    private var rest: Substring.UTF8View

    init(_ line: Substring.UTF8View) { rest = line }

    /// `nil` for a comment, an empty line, and what is not of this form.
    mutating func sample() -> (name: String, sample: PrometheusSamples.Sample)? {
        skipBlanks()
        let name = word { PrometheusLineReader.isNameByte($0) }
        guard !name.isEmpty else { return nil }
        var labels: [String: String] = [:]
        if take("{") {
            guard readLabels(&labels) else { return nil }
        }
        skipBlanks()
        guard let value = PrometheusLineReader.number(word { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") })
        else { return nil }
        return (name, PrometheusSamples.Sample(labels: labels, value: value))
    }

    /// A number as the format writes it, `+Inf`, `-Inf` and `NaN` included.
    static func number(_ text: String) -> Double? {
        switch text {
        case "+Inf", "Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: Double(text)
        }
    }

    private mutating func readLabels(_ labels: inout [String: String]) -> Bool {
        while true {
            skipBlanks()
            if take("}") { return true }
            let name = word { PrometheusLineReader.isNameByte($0) }
            guard !name.isEmpty, take("="), take("\""), let value = quoted() else { return false }
            labels[name] = value
            skipBlanks()
            if !take(",") {
                skipBlanks()
                return take("}")
            }
        }
    }

    /// To the closing quote, with `\\`, `\"` and `\n` as what they stand for.
    private mutating func quoted() -> String? {
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: bytes, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = rest.popFirst() else { return nil }
                bytes.append(escaped == UInt8(ascii: "n") ? UInt8(ascii: "\n") : escaped)
            default: bytes.append(byte)
            }
        }
        return nil
    }

    private mutating func skipBlanks() {
        while rest.first == UInt8(ascii: " ") || rest.first == UInt8(ascii: "\t") { rest.removeFirst() }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func word(while isPart: (UInt8) -> Bool) -> String {
        let end = rest.firstIndex { !isPart($0) } ?? rest.endIndex
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: ":"):
            true
        default: false
        }
    }
}
