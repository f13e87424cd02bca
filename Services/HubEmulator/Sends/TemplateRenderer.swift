/// What a template registration makes of the properties of a template send, after the service's template language.
///
/// Templates are JSON or XML documents, or plain text for raw notifications. Expressions stand in the string values of
/// JSON and in the text and attributes of XML; what they give is escaped for its place.
///
/// What it gives is bounded: a template of 64 KB can name a message of 64 KB ten thousand times.
struct TemplateRenderer: Sendable {
    /// Past this many bytes nothing more is put in: far above what any push service takes.
    static let maxBytes = 128 * 1024

    private let registration: Registration
    private let properties: TemplateProperties

    init(_ registration: Registration, _ properties: TemplateProperties) {
        self.registration = registration
        self.properties = properties.over(pushVariables: registration.field("PushVariables"))
    }

    var body: String {
        let template = registration.field("BodyTemplate") ?? ""
        switch registration.format {
        case .windows, .windowsphone:
            let isXML = template.first { !$0.isWhitespace } == "<"
            return evaluate(template, escape: { isXML ? XMLWriter.escape($0) : $0 })
        default:
            return json(template)
        }
    }

    /// The headers that the template brings along.
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

    private func json(_ template: String) -> String {
        var output = ""
        var rest = template[...]
        while let quote = rest.firstIndex(of: "\"") {
            guard output.utf8.count < Self.maxBytes else { return output }
            // Outside of strings braces are the document's own.
            output += evaluate(String(rest[..<quote]), allowsGroups: false, escape: TemplateString.escape)
            guard let end = TemplateString.end(of: rest[quote...]) else { return output + rest[quote...] }
            let literal = rest[quote..<end]
            rest = rest[end...]
            let isName = rest.first { !$0.isWhitespace } == ":"
            output += isName ? String(literal) : value(of: literal)
        }
        return output + evaluate(String(rest), allowsGroups: false, escape: TemplateString.escape)
    }

    /// A string of the template, quotes included, with its expressions replaced.
    private func value(of literal: Substring) -> String {
        guard let text = TemplateString.decode(literal) else { return String(literal) }
        if let name = TemplateScanner.lonelyNumber(text), TemplateString.isNumber(properties[name]) {
            return properties[name]
        }
        return "\"" + TemplateString.escape(evaluate(text) { $0 }) + "\""
    }
}
