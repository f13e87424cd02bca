import SecurePushCore

/// The tags that a client may give its devices.
enum ClientTag {
    /// The hub's limit for a device, the user's own tag included.
    static let most = 60
    private static let longest = 120

    /// What is wrong with a client's tag, or `nil`. The user's own tag is the server's to give, and `$` begins the
    /// hub's.
    static func issue(_ tag: String) -> String? {
        let allowed = tag.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "_@#.:-".unicodeScalars.contains(scalar)
        }
        // By scalars, for a mark after the colon would make it another character; and folded through upper case, for
        // some letters, such as the long s, are ASCII ones to whoever compares so.
        let folded = tag.uppercased().lowercased().unicodeScalars
        if folded.starts(with: "username:".unicodeScalars) || folded.first == "$" {
            return "The tag is reserved."
        }
        guard !tag.isEmpty, tag.utf16.count <= longest, allowed else {
            return "A tag is 1 to 120 letters, digits and _ @ # . : -"
        }
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
