import Domain
import Foundations

/// Renders a template registration with the properties of a template send, in the service's template language.
///
/// Templates are JSON or XML documents, or plain text for raw notifications. Expressions are in the string values of
/// JSON and in the text and attributes of XML; their values are escaped for that place.
///
/// The result is bounded: a template of 64 KB can contain a message of 64 KB ten thousand times.
struct TemplateRenderer: Sendable {
    /// Rendering stops beyond this number of bytes, which is far more than any push service accepts.
    static let maxBytes = 128 * 1024

    private let registration: RegistrationEntry
    private let properties: TemplateProperties

    init(_ registration: RegistrationEntry, _ properties: TemplateProperties) {
        self.registration = registration
        self.properties = properties.over(pushVariables: registration.field("PushVariables"))
    }

    var body: String {
        let template = registration.field("BodyTemplate") ?? ""
        switch registration.format {
        case .windows, .windowsphone:
            let isXML = template.unicodeScalars.first { !$0.properties.isWhitespace } == "<"
            return evaluate(template, escape: { isXML ? XMLWriter.escape($0) : $0 })
        default:
            return json(template)
        }
    }

    var headers: [String: String] {
        var headers: [String: String] = [:]
        for list in registration.fields where ["ApnsHeaders", "WnsHeaders", "MpnsHeaders"].contains(list.name) {
            for header in list.children {
                guard let name = header.child("Header")?.text, !name.isEmpty else { continue }
                headers[name] = evaluate(header.child("Value")?.text ?? "") { $0 }
            }
        }
        if registration.format == .apple {
            for (field, name) in [("Expiry", "apns-expiration"), ("Priority", "apns-priority")] {
                if let text = registration.field(field), !text.isEmpty { headers[name] = evaluate(text) { $0 } }
            }
        }
        return headers
    }

    private func evaluate(
        _ text: String, allowsGroups: Bool = true, escape: (String) -> String
    ) -> String {
        TemplateScanner.parts(of: text, allowsGroups: allowsGroups).reduce(into: "") { output, part in
            guard output.utf8.count < Self.maxBytes else { return }
            switch part {
            case .text(let text): output += text
            case .expression(let expression): output += expression.value(properties, escape: escape)
            }
        }
    }

    /// By bytes and scalars: a quote with a combining mark after it is one `Character`, and a quote all the same.
    private func json(_ template: String) -> String {
        var output = ""
        var rest = template[...]
        while let quote = rest.utf8.firstIndex(of: UInt8(ascii: "\"")) {
            guard output.utf8.count < Self.maxBytes else { return output }
            // Outside of strings, braces are the document's own.
            output += evaluate(String(rest[..<quote]), allowsGroups: false, escape: TemplateString.escape)
            guard let end = TemplateString.end(of: rest[quote...]) else { return output + rest[quote...] }
            let literal = rest[quote..<end]
            rest = rest[end...]
            let isName = rest.unicodeScalars.first { !$0.properties.isWhitespace } == ":"
            output += isName ? String(literal) : value(of: literal)
        }
        return output + evaluate(String(rest), allowsGroups: false, escape: TemplateString.escape)
    }

    /// A string of the template, quotes included, with its expressions replaced.
    private func value(of literal: Substring) -> String {
        guard let text = TemplateString.decode(literal) else { return String(literal) }
        if let name = TemplateScanner.nameOfNumber(text), TemplateString.isNumber(properties[name]) {
            return properties[name]
        }
        return "\"" + TemplateString.escape(evaluate(text) { $0 }) + "\""
    }
}

/// The properties of a template send, with names in any case.
struct TemplateProperties: Sendable {
    /// The whole message, for `$body`.
    let message: String
    private var values: [String: String] = [:]

    /// Reads the body of a template send: a JSON object of strings.
    ///
    /// - Throws: 400 for anything else.
    init(message body: [UInt8]) throws(HubError) {
        guard let members = (try? JSONValue(body))?.members else {
            throw HubError.badRequest("The body of a template notification must be a JSON object.")
        }
        message = String(decoding: body, as: UTF8.self)
        for member in members {
            guard let text = member.value.text else {
                throw HubError.badRequest("The properties of a template notification must be strings.")
            }
            values[member.name.lowercased()] = text
        }
    }

    /// Adds the push variables of an installation, a JSON object of strings; the properties take precedence.
    func over(pushVariables text: String?) -> TemplateProperties {
        var merged = self
        for member in text.flatMap(JSONValue.init(text:))?.members ?? [] {
            guard let value = member.value.text, values[member.name.lowercased()] == nil else { continue }
            merged.values[member.name.lowercased()] = value
        }
        return merged
    }

    /// The value of a property; empty when there is none.
    subscript(_ name: String) -> String { values[name.lowercased()] ?? "" }
}

/// Strings and numbers of JSON templates.
enum TemplateString {
    /// The end of the string at the start of a text, after its closing quote; nil when it has none.
    static func end(of text: Substring) -> Substring.Index? {
        let bytes = text.utf8
        var index = bytes.index(after: bytes.startIndex)
        while index < bytes.endIndex {
            switch bytes[index] {
            case UInt8(ascii: "\\"):
                index = bytes.index(after: index)
                if index == bytes.endIndex { return nil }
            case UInt8(ascii: "\""): return bytes.index(after: index)
            default: break
            }
            index = bytes.index(after: index)
        }
        return nil
    }

    /// The value of a string with its quotes; nil when it is not JSON.
    static func decode(_ literal: Substring) -> String? {
        guard literal.utf8.contains(UInt8(ascii: "\\")) else { return withoutQuotes(literal) }
        return JSONValue(text: String(literal))?.text
    }

    /// The JSON of a text without the quotes around it.
    static func escape(_ text: String) -> String { withoutQuotes(JSONValue.string(text).json[...]) }

    private static func withoutQuotes(_ literal: Substring) -> String {
        String(Substring(literal.utf8.dropFirst().dropLast()))
    }

    /// Whether a text is a JSON number, which `#(name)` writes without quotes.
    static func isNumber(_ text: String) -> Bool {
        guard case .number(text)? = JSONValue(text: text) else { return false }
        return true
    }
}
