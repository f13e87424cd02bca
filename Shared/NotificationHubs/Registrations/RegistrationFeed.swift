import SecurePushCore

/// The registrations in the hub's feed: their IDs, and the installations that they stand for.
///
/// Not a general XML parser: Foundation's on Linux is libxml2 by way of FoundationXML, some megabytes resident for two
/// elements of a document whose form is fixed. What could mislead a search for those elements is passed over: comments,
/// and CDATA sections, in which templates hold text of the app's own.
enum RegistrationFeed {
    /// - Returns: the registrations in their order; `nil` for a feed that breaks off or holds what is no ID.
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

        /// Takes what begins here; false for what cannot be read.
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

    /// The ID in `$InstallationId:{ID}`, which the hub compares without regard to case like any tag.
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
    /// Whether the document ends as a whole feed does.
    fileprivate var isFeed: Bool {
        let end = reversed().drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        return end.starts(with: "</feed>".utf8.reversed()) || end.starts(with: "/>".utf8.reversed())
    }
}
