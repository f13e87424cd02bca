/// Writes elements as XML text.
enum XMLWriter {
    /// Text with the characters escaped that mean something in text or in a quoted attribute.
    ///
    /// - Parameter keepsQuotes: for text between tags, where the service writes quotes as they are.
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

    /// Text as a CDATA section, which is how the service gives templates; escaped when a section would lose something.
    static func characterData(_ text: String) -> String {
        guard !text.utf8.contains(0x0D) else { return escape(text) }
        return "<![CDATA[\(text.replacing("]]>", with: "]]]]><![CDATA[>"))]]>"
    }

    /// An element with its children. The prefix `i` must be bound around it for attributes such as `i:nil`.
    ///
    /// - Parameter parentNamespace: what is the default namespace there; another one is declared.
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
