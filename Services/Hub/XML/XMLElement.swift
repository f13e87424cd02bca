/// An element of an XML document, with namespaces resolved. The hub's documents have no text between elements, so the
/// places of such text are not kept.
struct XMLElement: Equatable, Sendable {
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
    /// All text directly inside, joined.
    var text = ""
    var children: [XMLElement] = []

    init(
        _ name: String, namespace: String = "", attributes: [Attribute] = [], text: String = "",
        children: [XMLElement] = []
    ) {
        (self.name, self.namespace) = (name, namespace)
        (self.attributes, self.text, self.children) = (attributes, text, children)
    }

    /// An element without a value.
    static func `nil`(_ name: String, namespace: String) -> XMLElement {
        let attribute = Attribute(namespace: XMLNamespace.instance, name: "nil", value: "true")
        return XMLElement(name, namespace: namespace, attributes: [attribute])
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
        if element.text.isEmpty && element.children.isEmpty {
            output += "/>"
            return
        }
        output += ">" + escape(element.text, keepsQuotes: true)
        for child in element.children { write(child, parentNamespace: element.namespace, to: &output) }
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
