/// A small strict reader of XML 1.0 documents in UTF-8, for what clients send to a hub.
///
/// No document type is read, so there are no entities but the five of XML, and nothing outside the document is ever
/// looked at. Depth is bounded. Our own because Foundation's reader pulls in libxml2 for documents of ten elements.
struct XMLReader {
    private static let maximumDepth = 32

    private var input: XMLInput
    private var scopes: [[String: String]] = [["": "", "xml": XMLNamespace.xml]]

    /// Reads one document.
    ///
    /// - Throws: what is wrong, and at which byte.
    static func read(_ bytes: [UInt8]) throws(XMLReaderError) -> XMLElement {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw XMLReaderError(reason: "is not UTF-8", offset: 0)
        }
        guard text.unicodeScalars.allSatisfy(XMLInput.isAllowed) else {
            throw XMLReaderError(reason: "holds a character that XML forbids", offset: 0)
        }
        var reader = XMLReader(input: XMLInput(bytes))
        return try reader.document()
    }

    private init(input: XMLInput) {
        self.input = input
    }

    private mutating func document() throws(XMLReaderError) -> XMLElement {
        input.skipByteOrderMark()
        try skipMiscellany()
        guard input.take("<") else { throw input.error("has no root element") }
        let root = try element(depth: 1)
        try skipMiscellany()
        guard input.isAtEnd else { throw input.error("has something after the root element") }
        return root
    }

    /// Blanks, comments and processing instructions, outside the root.
    private mutating func skipMiscellany() throws(XMLReaderError) {
        while true {
            input.skipBlanks()
            if input.take("<!--") {
                _ = try input.text(until: "-->")
            } else if input.take("<?") {
                _ = try input.text(until: "?>")
            } else {
                return
            }
        }
    }

    /// The rest of an element whose `<` is read.
    private mutating func element(depth: Int) throws(XMLReaderError) -> XMLElement {
        guard depth <= Self.maximumDepth else { throw input.error("is nested too deeply") }
        let tag = try input.name()
        let raw = try attributes()
        try pushScope(of: raw)
        defer { scopes.removeLast() }
        var element = try resolve(tag, raw)
        if input.take("/>") { return element }
        guard input.take(">") else { throw input.error("has a start tag that does not end") }
        element.content = try content(depth: depth)
        guard try input.name() == tag else { throw input.error("has an end tag that does not match") }
        input.skipBlanks()
        guard input.take(">") else { throw input.error("has an end tag that does not end") }
        return element
    }

    /// What stands between the tags, up to and with the `</` of the end tag.
    private mutating func content(depth: Int) throws(XMLReaderError) -> [XMLElement.Content] {
        var parts: [XMLElement.Content] = []
        var text = ""
        while true {
            if input.take("</") { break }
            if input.take("<![CDATA[") {
                text += try input.text(until: "]]>")
            } else if input.take("<!--") {
                _ = try input.text(until: "-->")
            } else if input.take("<?") {
                _ = try input.text(until: "?>")
            } else if input.take("<") {
                if !text.isEmpty { parts.append(.text(text)) }
                text = ""
                parts.append(.element(try self.element(depth: depth + 1)))
            } else {
                text += try input.characters(until: UInt8(ascii: "<"))
            }
        }
        if !text.isEmpty { parts.append(.text(text)) }
        return parts
    }

    private mutating func attributes() throws(XMLReaderError) -> [(name: String, value: String)] {
        var attributes: [(name: String, value: String)] = []
        while true {
            let blank = input.skipBlanks()
            guard let next = input.peek, next != UInt8(ascii: ">"), next != UInt8(ascii: "/") else { return attributes }
            guard blank else { throw input.error("lacks a blank before an attribute") }
            let name = try input.name()
            input.skipBlanks()
            guard input.take("=") else { throw input.error("has an attribute without a value") }
            input.skipBlanks()
            guard let quote = input.peek, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
                throw input.error("has an attribute without quotes")
            }
            input.advance()
            let value = try input.characters(until: quote)
            input.advance()
            guard !attributes.contains(where: { $0.name == name }) else { throw input.error("repeats an attribute") }
            attributes.append((name, value))
        }
    }

    private mutating func pushScope(of attributes: [(name: String, value: String)]) throws(XMLReaderError) {
        var scope = scopes[scopes.count - 1]
        for (name, value) in attributes {
            if name == "xmlns" {
                scope[""] = value
            } else if name.hasPrefix("xmlns:") {
                guard !value.isEmpty else { throw input.error("binds a prefix to nothing") }
                scope[String(name.dropFirst(6))] = value
            }
        }
        scopes.append(scope)
    }

    private func resolve(
        _ tag: String, _ raw: [(name: String, value: String)]
    ) throws(XMLReaderError) -> XMLElement {
        let name = try resolve(tag, isAttribute: false)
        var element = XMLElement(name.local, namespace: name.namespace)
        for (attribute, value) in raw where attribute != "xmlns" && !attribute.hasPrefix("xmlns:") {
            let name = try resolve(attribute, isAttribute: true)
            element.attributes.append(
                XMLElement.Attribute(namespace: name.namespace, name: name.local, value: value))
        }
        return element
    }

    private func resolve(
        _ name: String, isAttribute: Bool
    ) throws(XMLReaderError) -> (namespace: String, local: String) {
        let scope = scopes[scopes.count - 1]
        let parts = name.split(separator: ":", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return (isAttribute ? "" : scope[""] ?? "", name)
        case 2 where !parts[0].isEmpty && !parts[1].isEmpty:
            guard let namespace = scope[String(parts[0])] else { throw input.error("uses a prefix that is not bound") }
            return (namespace, String(parts[1]))
        default: throw input.error("has a name that is not valid")
        }
    }
}
