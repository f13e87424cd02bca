/// The registration IDs in a feed of registrations.
///
/// Not a general XML parser: Foundation's on Linux is libxml2 by way of FoundationXML, some megabytes resident for one
/// element of a document whose form is fixed. What could mislead a search for that element is passed over: comments,
/// and CDATA sections, in which templates hold text of the app's own.
enum RegistrationFeed {
    /// - Returns: the IDs in their order; `nil` for a feed that breaks off or holds what is no ID.
    static func registrationIDs(_ xml: String) -> [String]? {
        var ids: [String] = []
        var rest = Substring(xml)
        while let tag = rest.firstIndex(of: "<") {
            rest = rest[tag...]
            if rest.hasPrefix("<![CDATA[") {
                guard rest.skip(past: "]]>") else { return nil }
            } else if rest.hasPrefix("<!--") {
                guard rest.skip(past: "-->") else { return nil }
            } else if rest.hasPrefix("<RegistrationId>") {
                rest = rest.dropFirst("<RegistrationId>".count)
                guard let end = rest.firstIndex(of: "<"), rest[end...].hasPrefix("</RegistrationId>"),
                    let id = XMLText.decode(String(rest[..<end])), !id.isEmpty
                else { return nil }
                ids.append(id)
                rest = rest[end...].dropFirst("</RegistrationId>".count)
            } else {
                rest = rest.dropFirst()
            }
        }
        return xml.utf8.isFeed ? ids : nil
    }
}

extension Substring {
    fileprivate mutating func skip(past end: String) -> Bool {
        guard let found = firstRange(of: end) else { return false }
        self = self[found.upperBound...]
        return true
    }
}

extension String.UTF8View {
    /// Whether the document ends as a whole feed does.
    fileprivate var isFeed: Bool {
        let end = reversed().drop { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
        return end.starts(with: "</feed>".utf8.reversed()) || end.starts(with: "/>".utf8.reversed())
    }
}
