/// A small strict reader of XML 1.0 documents in UTF-8, for the request bodies of a hub.
///
/// It reads no document types, so the only entities are the five of XML, and it opens no external resources. Depth is
/// bounded. It is our own because Foundation's reader pulls in libxml2 for documents of ten elements.
struct XMLReader {
    private static let maxDepth = 32

    private var input: XMLInput
    private var scopes: [[String: String]] = [["": "", "xml": XMLNamespace.xml]]

    /// Reads one document.
    ///
    /// - Throws: the reason and the byte of the first mistake.
    static func read(_ bytes: [UInt8]) throws(XMLReaderError) -> XMLElement {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw XMLReaderError(reason: "is not UTF-8", offset: 0)
        }
        guard text.unicodeScalars.allSatisfy(XMLInput.isAllowed) else {
            throw XMLReaderError(reason: "has a character that XML forbids", offset: 0)
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
        guard input.isAtEnd else { throw input.error("has text after the root element") }
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

    /// The rest of an element after its `<`.
    private mutating func element(depth: Int) throws(XMLReaderError) -> XMLElement {
        guard depth <= Self.maxDepth else { throw input.error("is nested too deeply") }
        let tag = try input.name()
        let raw = try attributes()
        try pushScope(of: raw)
        defer { scopes.removeLast() }
        var element = try resolve(tag, raw)
        if input.take("/>") { return element }
        guard input.take(">") else { throw input.error("has an unclosed start tag") }
        try readContent(of: &element, depth: depth)
        guard try input.name() == tag else { throw input.error("has an end tag that does not match") }
        input.skipBlanks()
        guard input.take(">") else { throw input.error("has an unclosed end tag") }
        return element
    }

    /// The content of an element, including the `</` of its end tag.
    private mutating func readContent(of parent: inout XMLElement, depth: Int) throws(XMLReaderError) {
        while !input.take("</") {
            if input.take("<![CDATA[") {
                parent.text += try input.text(until: "]]>")
            } else if input.take("<!--") {
                _ = try input.text(until: "-->")
            } else if input.take("<?") {
                _ = try input.text(until: "?>")
            } else if input.take("<") {
                parent.children.append(try element(depth: depth + 1))
            } else {
                parent.text += try input.characters(until: UInt8(ascii: "<"))
            }
        }
    }

    private mutating func attributes() throws(XMLReaderError) -> [(name: String, value: String)] {
        var attributes: [(name: String, value: String)] = []
        while true {
            let blank = input.skipBlanks()
            guard let next = input.peek, next != UInt8(ascii: ">"), next != UInt8(ascii: "/") else { return attributes }
            guard blank else { throw input.error("has no blank before an attribute") }
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
                guard !value.isEmpty else { throw input.error("binds a prefix to an empty namespace") }
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
            guard let namespace = scope[String(parts[0])] else { throw input.error("uses an unbound prefix") }
            return (namespace, String(parts[1]))
        default: throw input.error("has an invalid name")
        }
    }
}

/// The lexical half of ``XMLReader``: the bytes of a document and a position in them.
struct XMLInput {
    private let bytes: [UInt8]
    private var index = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The characters of XML 1.0, production 2.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    var isAtEnd: Bool { index >= bytes.count }
    var peek: UInt8? { index < bytes.count ? bytes[index] : nil }

    func error(_ reason: String) -> XMLReaderError { XMLReaderError(reason: reason, offset: index) }

    mutating func advance() { index += 1 }

    mutating func skipByteOrderMark() {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { index = 3 }
    }

    /// - Returns: whether there was a blank.
    @discardableResult
    mutating func skipBlanks() -> Bool {
        let start = index
        while index < bytes.count, [0x20, 0x9, 0xA, 0xD].contains(bytes[index]) { index += 1 }
        return index > start
    }

    /// Consumes a fixed text if it is next.
    mutating func take(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { expected in
            guard bytes.count - index >= expected.count, bytes[index..<index + expected.count].elementsEqual(expected)
            else { return false }
            index += expected.count
            return true
        }
    }

    /// The text up to a fixed one, which is consumed too.
    mutating func text(until end: StaticString) throws(XMLReaderError) -> String {
        let start = index
        while index < bytes.count {
            let stop = index
            if take(end) { return Self.normalized(bytes[start..<stop]) }
            index += 1
        }
        throw error("ends inside a section")
    }

    /// Text with its references replaced, up to a byte, which is not consumed.
    mutating func characters(until end: UInt8) throws(XMLReaderError) -> String {
        var result = ""
        var start = index
        while index < bytes.count, bytes[index] != end {
            if bytes[index] == UInt8(ascii: "&") {
                result += Self.normalized(bytes[start..<index])
                index += 1
                result.unicodeScalars.append(try reference())
                start = index
            } else if bytes[index] == UInt8(ascii: "<") {
                throw error("has a < inside a value")
            } else {
                index += 1
            }
        }
        guard index < bytes.count else { throw error("ends too early") }
        return result + Self.normalized(bytes[start..<index])
    }

    /// The rest of a reference after its `&`.
    private mutating func reference() throws(XMLReaderError) -> Unicode.Scalar {
        guard let length = bytes[index...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
            throw error("has an unclosed reference")
        }
        let name = String(decoding: bytes[index..<length], as: UTF8.self)
        index = length + 1
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default: break
        }
        guard name.hasPrefix("#") else { throw error("uses an unknown entity") }
        let isHex = name.hasPrefix("#x")
        let digits = name.dropFirst(isHex ? 2 : 1)
        guard digits.allSatisfy(\.isHexDigit), let value = UInt32(digits, radix: isHex ? 16 : 10),
            let scalar = Unicode.Scalar(value), Self.isAllowed(scalar)
        else { throw error("has an invalid character reference") }
        return scalar
    }

    /// A name with its prefix.
    mutating func name() throws(XMLReaderError) -> String {
        let start = index
        while index < bytes.count, Self.isNameByte(bytes[index], isFirst: index == start) { index += 1 }
        guard index > start else { throw error("has an invalid name") }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    private static func isNameByte(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: ":"), 0x80...:
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."): !isFirst
        default: false
        }
    }

    /// Line ends as XML defines them: `\n` alone.
    private static func normalized(_ bytes: ArraySlice<UInt8>) -> String {
        guard bytes.contains(0xD) else { return String(decoding: bytes, as: UTF8.self) }
        var result: [UInt8] = []
        for (offset, byte) in zip(bytes.indices, bytes) {
            if byte == 0xD {
                result.append(0xA)
            } else if byte != 0xA || offset == bytes.startIndex || bytes[offset - 1] != 0xD {
                result.append(byte)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}

/// Why a text is not XML that a hub accepts.
struct XMLReaderError: Error, Equatable, CustomStringConvertible {
    let reason: String
    /// In bytes from the start of the document.
    let offset: Int

    var description: String { "The document \(reason) (near byte \(offset))." }
}
