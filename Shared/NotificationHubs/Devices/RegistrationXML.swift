import Domain
import Foundations

/// The Atom entry that describes a registration to the hub (Azure: "Create a registration").
enum RegistrationDocument {
    static let contentType = "application/atom+xml;type=entry;charset=utf-8"

    /// - Throws: code `rejected` for a handle or tag that the document cannot carry unchanged. A comma would make two
    ///   tags of one, and the second could be another user's.
    static func entry(
        platform: RegistrationPlatform, handle: String, tags: [String]
    ) throws(PushGatewayError) -> String {
        guard let handle = XMLText.encode(handle) else {
            throw PushGatewayError(.rejected, "the handle holds a control character")
        }
        let (description, field) = platform.elements
        var xml = "<entry xmlns=\"http://www.w3.org/2005/Atom\"><content type=\"application/xml\"><\(description)"
        xml += " xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\""
        xml += " xmlns=\"http://schemas.microsoft.com/netservices/2010/10/servicebus/connect\">"
        if !tags.isEmpty {
            xml += "<Tags>"
            for (position, tag) in tags.enumerated() {
                guard !tag.isEmpty, !tag.utf8.contains(UInt8(ascii: ",")), let tag = XMLText.encode(tag) else {
                    throw PushGatewayError(.rejected, "a tag is empty or holds a comma or a control character")
                }
                xml += position == 0 ? tag : "," + tag
            }
            xml += "</Tags>"
        }
        xml += "<\(field)>\(handle)</\(field)></\(description)></content></entry>"
        return xml
    }
}

extension RegistrationPlatform {
    /// The names of the description's element and of the handle's element in it.
    fileprivate var elements: (description: String, handle: String) {
        switch self {
        case .apns: ("AppleRegistrationDescription", "DeviceToken")
        case .fcmv1: ("FcmV1RegistrationDescription", "FcmV1RegistrationId")
        case .gcm: ("GcmRegistrationDescription", "GcmRegistrationId")
        case .wns: ("WindowsRegistrationDescription", "ChannelUri")
        }
    }
}

/// The registrations in the hub's feed: their IDs, and the installations that they belong to.
///
/// This is not a general XML parser. Foundation's parser on Linux is libxml2 through FoundationXML: some resident
/// megabytes for two elements of a document with a fixed form. Comments and CDATA sections are skipped, because text
/// in them (the app's own, in templates) could look like these elements.
enum RegistrationFeed {
    /// - Returns: the registrations in their order; `nil` if the feed is incomplete or holds an invalid ID.
    static func registrations(_ xml: String) -> [HubRegistration]? {
        var scan = Scan(rest: Substring(xml))
        while let tag = scan.rest.firstIndex(of: "<") {
            scan.rest = scan.rest[tag...]
            guard scan.takeElement() else { return nil }
        }
        scan.endEntry()
        return xml.utf8.isFeed ? scan.found : nil
    }

    private struct Scan {
        var rest: Substring
        var found: [HubRegistration] = []
        private var id: String?
        private var installationID: String?

        init(rest: Substring) { self.rest = rest }

        /// Takes the element that begins here; `false` if it cannot be read.
        mutating func takeElement() -> Bool {
            if rest.hasPrefix("<![CDATA[") { return rest.skip(past: "]]>") }
            if rest.hasPrefix("<!--") { return rest.skip(past: "-->") }
            if rest.hasPrefix("</entry>") { endEntry() }
            if rest.hasPrefix("<RegistrationId>") {
                guard let text = rest.text(of: "RegistrationId"), !text.isEmpty else { return false }
                if id != nil { endEntry() }
                id = text
            } else if rest.hasPrefix("<Tags>") {
                guard let text = rest.text(of: "Tags") else { return false }
                installationID = RegistrationFeed.installationID(inTags: text)
            } else {
                rest = rest.dropFirst()
            }
            return true
        }

        mutating func endEntry() {
            if let id { found.append(HubRegistration(id: id, installationID: installationID)) }
            (id, installationID) = (nil, nil)
        }
    }

    /// The ID in `$InstallationId:{ID}`; the hub compares it without regard to case, like any tag.
    private static func installationID(inTags tags: String) -> String? {
        let prefix = "$InstallationId:{"
        for tag in tags.split(separator: ",") {
            let tag = String(tag.drop { $0 == " " })
            guard tag.utf8.count > prefix.utf8.count + 1, tag.hasSuffix("}"),
                String(tag.prefix(prefix.count)).equalsIgnoringASCIICase(prefix)
            else { continue }
            return String(tag.dropFirst(prefix.count).dropLast())
        }
        return nil
    }
}

extension Substring {
    fileprivate mutating func skip(past end: String) -> Bool {
        guard let found = firstRange(of: end) else { return false }
        self = self[found.upperBound...]
        return true
    }

    /// Takes `<NAME>TEXT</NAME>`, which begins here.
    fileprivate mutating func text(of name: String) -> String? {
        let content = dropFirst(name.count + 2)
        guard let end = content.firstIndex(of: "<"), content[end...].hasPrefix("</\(name)>"),
            let text = XMLText.decode(String(content[..<end]))
        else { return nil }
        self = content[end...].dropFirst(name.count + 3)
        return text
    }
}

extension String.UTF8View {
    /// Whether the document ends as a complete feed does.
    fileprivate var isFeed: Bool {
        let end = reversed().drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        return end.starts(with: "</feed>".utf8.reversed()) || end.starts(with: "/>".utf8.reversed())
    }
}

/// The text of XML elements.
enum XMLText {
    /// Escapes the characters that have a meaning in XML.
    ///
    /// - Returns: `nil` if the text has a character that XML 1.0 does not allow (section 2.2: most control characters).
    static func encode(_ text: String) -> String? {
        var xml = ""
        xml.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": xml.append("&amp;")
            case "<": xml.append("&lt;")
            case ">": xml.append("&gt;")
            case "\"": xml.append("&quot;")
            case "'": xml.append("&apos;")
            case "\t", "\n", "\r": xml.append("&#\(scalar.value);")
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": return nil
            default: xml.unicodeScalars.append(scalar)
            }
        }
        return xml
    }

    /// Resolves the five named entities and character references.
    ///
    /// - Returns: `nil` if there is any other reference.
    static func decode(_ xml: String) -> String? {
        guard xml.utf8.contains(UInt8(ascii: "&")) else { return xml }
        var text = ""
        var rest = Substring(xml)
        while let ampersand = rest.firstIndex(of: "&") {
            text.append(contentsOf: rest[..<ampersand])
            rest = rest[rest.index(after: ampersand)...]
            guard let end = rest.firstIndex(of: ";"), let scalar = scalar(rest[..<end]) else { return nil }
            text.unicodeScalars.append(scalar)
            rest = rest[rest.index(after: end)...]
        }
        text.append(contentsOf: rest)
        return text
    }

    private static func scalar(_ reference: Substring) -> Unicode.Scalar? {
        switch reference {
        case "amp": return "&"
        case "lt": return "<"
        case "gt": return ">"
        case "quot": return "\""
        case "apos": return "'"
        default:
            guard reference.first == "#" else { return nil }
            let digits = reference.dropFirst()
            let value = digits.first == "x" ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits)
            return value.flatMap(Unicode.Scalar.init)
        }
    }
}
