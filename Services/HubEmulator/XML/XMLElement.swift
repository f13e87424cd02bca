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

    /// Whether the element says that it has no value (`xsi:nil`, XML Schema Part 1, 2.6.2).
    var isNil: Bool { ["true", "1"].contains(attribute("nil", namespace: XMLNamespace.instance) ?? "") }

    /// The first child of this local name.
    func child(_ name: String) -> XMLElement? { children.first { $0.name == name } }
}
