/// Checks of the texts in an installation.
enum InstallationText {
    static let maximumTags = TagSyntax.maximumCountPerRegistration
    /// More templates or tiles than this no device has; the emulator keeps everything in memory.
    static let maximumParts = 100
    /// The service's limit for names in URLs, in characters.
    static let maximumIDLength = 260

    /// Whether a text can be an installation's ID: what may stand in its tag `$InstallationId:{...}`, in ASCII. Dots
    /// alone are a path of their own to many programs on the way, so they are no ID.
    static func isID(_ id: String) -> Bool {
        (1...maximumIDLength).contains(id.utf8.count) && !id.allSatisfy { $0 == "." }
            && id.unicodeScalars.allSatisfy { $0.isASCII && (TagSyntax.isTagCharacter($0) || $0 == "=") }
    }

    /// A text that can stand in XML: an installation shows up as registrations too.
    ///
    /// - Throws: 400.
    static func checked(_ text: String, _ name: String) throws(HubError) -> String {
        guard text.unicodeScalars.allSatisfy(XMLInput.isAllowed) else {
            throw HubError.badRequest("The \(name) holds a control character.")
        }
        return text
    }

    /// A member's text; nil when it is absent, null or empty.
    ///
    /// - Throws: 400 when it is something else.
    static func optional(_ name: String, of object: JSONValue) throws(HubError) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.text else { throw HubError.badRequest("The \(name) is not a string.") }
        return text.isEmpty ? nil : try checked(text, name)
    }

    /// An object of strings.
    ///
    /// - Throws: 400.
    static func strings(_ value: JSONValue?, _ name: String) throws(HubError) -> NamedValues<String> {
        guard let value else { return NamedValues() }
        guard let members = value.members else { throw HubError.badRequest("The \(name) are not an object.") }
        var values = NamedValues<String>()
        for member in members {
            guard let text = member.value.text else {
                throw HubError.badRequest("The \(name) hold a value that is not a string.")
            }
            values[try checked(member.name, name)] = try checked(text, name)
        }
        return values
    }

    /// Whose tags a list holds.
    enum TagOwner {
        /// An installation or a tile: the grammar of registrations.
        case device
        /// A template: recorded with blanks inside, as `Template Name`.
        case template
    }

    /// A list of tags, repeats dropped without regard to case.
    ///
    /// - Throws: 400.
    static func tags(_ value: JSONValue?, of owner: TagOwner = .device) throws(HubError) -> [String] {
        guard let value else { return [] }
        guard let elements = value.elements else { throw HubError.badRequest("The tags are not an array.") }
        var tags: [String] = []
        for element in elements { append(try tag(element, of: owner), to: &tags) }
        return tags
    }

    /// - Throws: 400.
    static func tag(_ value: JSONValue, of owner: TagOwner = .device) throws(HubError) -> String {
        guard let text = value.text else { throw HubError.badRequest("A tag is not a string.") }
        switch owner {
        case .device:
            guard TagSyntax.isTag(text) else {
                throw HubError.badRequest("A tag has 1 to 120 letters, digits and _ @ # . : - characters.")
            }
            return text
        case .template:
            guard !text.isEmpty, text.unicodeScalars.count <= TagSyntax.maximumLength, !text.contains(",") else {
                throw HubError.badRequest("A template's tag has 1 to 120 characters and no comma.")
            }
            return try checked(text, "tag")
        }
    }

    /// Tags in the order of the service's answers: by their letters without regard to case.
    static func sorted(_ tags: [String]) -> [String] {
        tags.map { (key: $0.lowercased(), tag: $0) }.sorted { ($0.key, $0.tag) < ($1.key, $1.tag) }.map(\.tag)
    }

    static func append(_ tag: String, to tags: inout [String]) {
        let lowered = tag.lowercased()
        if !tags.contains(where: { $0.lowercased() == lowered }) { tags.append(tag) }
    }
}
