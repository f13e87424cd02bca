/// An element of an XML document, with namespaces resolved.
struct XMLElement: Equatable, Sendable {
    enum Content: Equatable, Sendable {
        case text(String)
        case element(XMLElement)
    }

    /// An attribute; `namespace` is empty for one without a prefix.
    struct Attribute: Equatable, Sendable {
        var namespace: String
        var name: String
        var value: String
    }

    /// The local name.
    var name: String
    var namespace: String
    var attributes: [Attribute] = []
    var content: [Content] = []

    init(_ name: String, namespace: String = "", attributes: [Attribute] = [], content: [Content] = []) {
        self.name = name
        self.namespace = namespace
        self.attributes = attributes
        self.content = content
    }

    init(_ name: String, namespace: String, text: String) {
        self.init(name, namespace: namespace, content: [.text(text)])
    }

    /// An element without a value.
    static func `nil`(_ name: String, namespace: String) -> XMLElement {
        let attribute = Attribute(namespace: XMLNamespace.instance, name: "nil", value: "true")
        return XMLElement(name, namespace: namespace, attributes: [attribute])
    }

    var children: [XMLElement] {
        content.compactMap { if case .element(let element) = $0 { element } else { nil } }
    }

    /// All text directly inside, joined.
    var text: String {
        content.reduce(into: "") { result, part in
            if case .text(let text) = part { result += text }
        }
    }

    /// The value of an attribute; nil when the element has none of that name.
    func attribute(_ name: String, namespace: String = "") -> String? {
        attributes.first { $0.name == name && $0.namespace == namespace }?.value
    }

    /// Whether the element has no value (`xsi:nil`, XML Schema Part 1, 2.6.2).
    var isNil: Bool { ["true", "1"].contains(attribute("nil", namespace: XMLNamespace.instance) ?? "") }

    /// The first child of this local name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }
}

enum XMLWriter {
    /// Text with the characters escaped that have a meaning in text or in a quoted attribute.
    ///
    /// - Parameter keepsQuotes: for text between tags, where the service does not escape quotes.
    static func escape(_ text: String, keepsQuotes: Bool = false) -> String {
        guard text.utf8.contains(where: { "<>&\"\r".utf8.contains($0) }) else { return text }
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count + 16)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "&": escaped += "&amp;"
            case "\"" where !keepsQuotes: escaped += "&quot;"
            case "\r": escaped += "&#13;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// Text as a CDATA section, the service's form of templates; escaped if it has a CR, which a section would lose.
    static func characterData(_ text: String) -> String {
        guard !text.utf8.contains(0x0D) else { return escape(text) }
        // By scalar: a combining accent after the ">" makes it another character, but not another byte.
        let parts = text.unicodeScalars.replacing("]]>".unicodeScalars, with: "]]]]><![CDATA[>".unicodeScalars)
        return "<![CDATA[\(String(parts))]]>"
    }

    /// Writes an element with its children. The prefix `i` must be bound around it for attributes such as `i:nil`.
    ///
    /// - Parameter parentNamespace: the default namespace around it; the element declares another one.
    static func write(_ element: XMLElement, parentNamespace: String, to output: inout String) {
        output += "<\(element.name)"
        if element.namespace != parentNamespace { output += " xmlns=\"\(escape(element.namespace))\"" }
        for attribute in element.attributes {
            if attribute.namespace.isEmpty {
                output += " \(attribute.name)=\"\(escape(attribute.value))\""
            } else if attribute.namespace == XMLNamespace.instance {
                output += " i:\(attribute.name)=\"\(escape(attribute.value))\""
            }
        }
        guard !element.content.isEmpty else {
            output += "/>"
            return
        }
        output += ">"
        for part in element.content {
            switch part {
            case .text(let text): output += escape(text, keepsQuotes: true)
            case .element(let child): write(child, parentNamespace: element.namespace, to: &output)
            }
        }
        output += "</\(element.name)>"
    }
}

/// The namespaces of the hub's documents.
enum XMLNamespace {
    static let atom = "http://www.w3.org/2005/Atom"
    static let connect = "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
    static let instance = "http://www.w3.org/2001/XMLSchema-instance"
    static let metadata = "http://schemas.microsoft.com/ado/2007/08/dataservices/metadata"
    static let xml = "http://www.w3.org/XML/1998/namespace"
    static let xmlns = "http://www.w3.org/2000/xmlns/"
}
