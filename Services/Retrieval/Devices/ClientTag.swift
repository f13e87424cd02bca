import SecurePushCore

/// The tags that a client may give its devices.
enum ClientTag {
    /// The hub's limit for a device, the user's own tag included.
    static let most = 60
    private static let maxLength = 120

    /// What is wrong with a client's tag, or `nil`. The user's own tag is the server's to give, and `$` begins the
    /// hub's. The grammar is the hub's (Azure: "Routing and tag expressions").
    static func issue(_ tag: String) -> String? {
        let allowed = tag.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: "_@#.:-".utf8.contains(byte)
            }
        }
        if tag.utf8.first == UInt8(ascii: "$") { return "The tag is reserved." }
        guard (1...maxLength).contains(tag.utf8.count), allowed else {
            return "A tag is 1 to 120 of A-Z a-z 0-9 _ @ # . : -"
        }
        // ASCII only by now, so that lower case is the same for everybody.
        if tag.lowercased().hasPrefix("username:") { return "The tag is reserved." }
        return nil
    }
}

/// Reads lists of tags, and counts them all: the hub's limit is for a device, wherever its tags stand.
struct ClientTagReader {
    private(set) var count = 0

    /// The tags of a list, which may be `null`; what is wrong with any is noted.
    mutating func read(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) -> [String] {
        if member.value.kind == .null { return [] }
        var tags: [String] = []
        let elements = reader.elements(of: member.value, at: member.pointer)
        let before = count
        count += elements.count
        if count >= ClientTag.most {
            // Once, at the list that goes too far.
            if before < ClientTag.most {
                reader.note(member.pointer, "There may be at most 60 tags in all, the user's own included.")
            }
            return []
        }
        for (index, element) in elements.enumerated() {
            let pointer = "\(member.pointer)/\(index)"
            guard let tag = reader.string(element, at: pointer) else { continue }
            if let issue = ClientTag.issue(tag) { reader.note(pointer, issue) }
            tags.append(tag)
        }
        return tags
    }
}
