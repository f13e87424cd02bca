/// Checks of the texts in an installation.
enum InstallationText {
    static let maximumTags = TagSyntax.maximumCountPerRegistration
    /// More templates or tiles than this no device has; the emulator keeps everything in memory.
    static let maximumParts = 100
    /// The service's limit for names in URLs, in characters.
    static let maximumIDLength = 260

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

    /// A list of tags, repeats dropped without regard to case. The service takes blanks inside tags here.
    ///
    /// - Throws: 400.
    static func tags(_ value: JSONValue?) throws(HubError) -> [String] {
        guard let value else { return [] }
        guard let elements = value.elements else { throw HubError.badRequest("The tags are not an array.") }
        var tags: [String] = []
        for element in elements { append(try tag(element), to: &tags) }
        return tags
    }

    /// - Throws: 400.
    static func tag(_ value: JSONValue) throws(HubError) -> String {
        guard let text = value.text, !text.isEmpty, text.unicodeScalars.count <= TagSyntax.maximumLength,
            !text.contains(",")
        else { throw HubError.badRequest("A tag is a string of 1 to 120 characters without a comma.") }
        return try checked(text, "tag")
    }

    static func append(_ tag: String, to tags: inout [String]) {
        let lowered = tag.lowercased()
        if !tags.contains(where: { $0.lowercased() == lowered }) { tags.append(tag) }
    }
}
