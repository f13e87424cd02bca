import Foundation

/// What a tag may look like: letters, digits and `_ @ # . : -`, and the two special forms of the service.
enum TagSyntax {
    /// The hub's limit, in characters.
    static let maximumLength = 120
    /// The hub's limit for one registration.
    static let maximumCountPerRegistration = 60

    private static let specialPrefixes = ["$installationid:{", "$userid:{"]

    static func isTagCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "_", "@", "#", ".", ":", "-": true
        default: scalar.value >= 0x80 && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil)
        }
    }

    /// Whether a text is one tag, `$InstallationId:{id}` and `$UserId:{id}` included.
    static func isTag(_ text: some StringProtocol) -> Bool {
        guard !text.isEmpty, text.unicodeScalars.count <= maximumLength else { return false }
        guard text.utf8.first == UInt8(ascii: "$") else { return text.unicodeScalars.allSatisfy(isTagCharacter) }
        let lowered = text.lowercased()
        guard let prefix = specialPrefixes.first(where: lowered.hasPrefix), lowered.hasSuffix("}") else { return false }
        let inner = lowered.dropFirst(prefix.count).dropLast()
        return !inner.isEmpty && inner.unicodeScalars.allSatisfy { isTagCharacter($0) || $0 == "=" }
    }

    /// The tags of a registration's `Tags` element: separated by commas, blanks around them ignored, repeats dropped.
    static func list(_ text: String) throws(HubError) -> [String] {
        var seen: Set<String> = []
        var tags: [String] = []
        for part in text.split(separator: ",") {
            let name = part.trimmingCharacters(in: .whitespacesAndNewlines)
            guard !name.isEmpty else { continue }
            guard isTag(name) else { throw HubError.badRequest("The tag is not valid or longer than 120 characters.") }
            if seen.insert(name.lowercased()).inserted { tags.append(name) }
        }
        guard tags.count <= maximumCountPerRegistration else {
            throw HubError.badRequest("A registration has at most 60 tags.")
        }
        try checkSpecialTags(tags)
        return tags
    }

    /// A registration is of at most one installation and one user.
    ///
    /// - Throws: 400.
    static func checkSpecialTags(_ tags: [String]) throws(HubError) {
        for prefix in specialPrefixes where tags.count(where: { $0.lowercased().hasPrefix(prefix) }) > 1 {
            throw HubError.badRequest("There is more than one tag $InstallationId:{...} or $UserId:{...}.")
        }
    }
}
