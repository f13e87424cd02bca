/// An expression of the service's template language.
indirect enum TemplateExpression: Equatable, Sendable {
    /// `$(name)`, and `#(name)`, which becomes a number where it is alone in a JSON string.
    case property(String)
    /// `$(name, n)`: at most n characters.
    case clipped(String, Int)
    /// `.(name, n)`: the same, the last three of them dots when something was cut off.
    case dotted(String, Int)
    /// `%(name)`: percent-encoded as a part of a URI.
    case encoded(String)
    /// `$body`: the whole message.
    case message
    /// `'text'` or `"text"`.
    case literal(String)
    /// `{a + b}`.
    case joined([TemplateExpression])

    /// What stands for it; literals are given as they are, all else through `escape`.
    func value(_ properties: TemplateProperties, escape: (String) -> String) -> String {
        switch self {
        case .property(let name): escape(properties[name])
        case .clipped(let name, let count): escape(String(properties[name].prefix(count)))
        case .dotted(let name, let count): escape(Self.dotted(properties[name], count))
        case .encoded(let name): escape(Self.percentEncoded(properties[name]))
        case .message: escape(properties.message)
        case .literal(let text): text
        case .joined(let parts):
            parts.reduce(into: "") { output, part in
                if output.utf8.count < TemplateRenderer.maxBytes { output += part.value(properties, escape: escape) }
            }
        }
    }

    private static func dotted(_ text: String, _ count: Int) -> String {
        guard text.count > count else { return text }
        return text.prefix(max(0, count - 3)) + String(repeating: ".", count: min(3, count))
    }

    private static func percentEncoded(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }
}
