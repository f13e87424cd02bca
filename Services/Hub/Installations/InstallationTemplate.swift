import Foundations

/// A template of an installation, which template sends render for this device.
struct InstallationTemplate: Equatable, Sendable {
    let body: String
    let headers: NamedValues<String>
    let tags: [String]
    let expiry: String?

    /// Reads the object or its JSON text: clients differ in their patches.
    ///
    /// - Throws: 400.
    init(_ value: JSONValue) throws(HubError) {
        let object = value.orItsText
        guard object.members != nil else { throw HubError.badRequest("The template is not a JSON object.") }
        guard let body = try InstallationText.optional("body", of: object) else {
            throw HubError.badRequest("The template has no body.")
        }
        self.body = body
        headers = try InstallationText.strings(object[ignoringCase: "headers"], "headers")
        tags = try InstallationText.tags(object[ignoringCase: "tags"], read: InstallationText.templateTag)
        expiry = try InstallationText.optional("expiry", of: object)
    }

    var json: JSONValue {
        JSONValue([
            "body": .string(body), "headers": headers.json(JSONValue.string), "expiry": .optional(expiry),
            "tags": tags.isEmpty ? nil : JSONValue(strings: tags),
        ])
    }
}

/// A secondary tile of a Windows app, which has its own channel.
struct SecondaryTile: Equatable, Sendable {
    let pushChannel: String
    let tags: [String]
    let templates: NamedValues<InstallationTemplate>

    /// Reads the object or its JSON text.
    ///
    /// - Throws: 400.
    init(_ value: JSONValue) throws(HubError) {
        let object = value.orItsText
        guard object.members != nil else { throw HubError.badRequest("The secondary tile is not a JSON object.") }
        guard let channel = try InstallationText.optional("pushChannel", of: object) else {
            throw HubError.badRequest("The secondary tile has no pushChannel.")
        }
        pushChannel = try InstallationText.checkedHandle(channel, "pushChannel")
        tags = try InstallationText.tags(object[ignoringCase: "tags"])
        templates = try NamedValues(object[ignoringCase: "templates"], "templates", InstallationTemplate.init)
    }

    var json: JSONValue {
        JSONValue([
            "pushChannel": .string(pushChannel), "tags": tags.isEmpty ? nil : JSONValue(strings: tags),
            "templates": templates.json(\.json),
        ])
    }
}

/// Checks of the texts in an installation.
enum InstallationText {
    static let maxTags = TagSyntax.maxCountPerRegistration
    /// The maximum number of templates and tiles together, and of variables: far more than any device has.
    static let maxParts = 100
    /// The service's limit for names in URLs, in characters.
    private static let maxIDLength = 260

    /// Whether a text can be an installation's ID: the characters of its tag `$InstallationId:{...}`, in ASCII. An ID
    /// of dots only is invalid because many programs interpret such a path.
    static func isID(_ id: String) -> Bool {
        (1...maxIDLength).contains(id.utf8.count) && !id.allSatisfy { $0 == "." }
            && id.unicodeScalars.allSatisfy { $0.isASCII && (TagSyntax.isTagCharacter($0) || $0 == "=") }
    }

    /// Checks that XML can contain a text: an installation is visible as registrations too.
    ///
    /// - Throws: 400.
    static func checked(_ text: String, _ name: String) throws(HubError) -> String {
        guard text.unicodeScalars.allSatisfy(XMLInput.isAllowed) else {
            throw HubError.badRequest("The \(name) has a control character.")
        }
        return text
    }

    /// Checks the handle of a device, as ``checked(_:_:)`` and for its length.
    ///
    /// - Throws: 400.
    static func checkedHandle(_ handle: String, _ name: String) throws(HubError) -> String {
        guard handle.utf8.count <= Device.maxHandleBytes else { throw Device.handleTooLong }
        return try checked(handle, name)
    }

    /// The text of a member; nil when it is absent, null or empty.
    ///
    /// - Throws: 400 for any other value.
    static func optional(_ name: String, of object: JSONValue) throws(HubError) -> String? {
        guard let value = object[ignoringCase: name] else { return nil }
        guard let text = value.text else { throw HubError.badRequest("The \(name) is not a string.") }
        return text.isEmpty ? nil : try checked(text, name)
    }

    /// An object of strings.
    ///
    /// - Throws: 400.
    static func strings(_ value: JSONValue?, _ name: String) throws(HubError) -> NamedValues<String> {
        try NamedValues(value, name) { value throws(HubError) in
            guard let text = value.text else {
                throw HubError.badRequest("The \(name) have a value that is not a string.")
            }
            return try checked(text, name)
        }
    }

    /// A list of tags without repeats in any case.
    ///
    /// - Parameter read: checks one tag; by default with the syntax of registrations.
    /// - Throws: 400.
    static func tags(
        _ value: JSONValue?, read: (String) throws(HubError) -> String = deviceTag
    ) throws(HubError) -> [String] {
        guard let value else { return [] }
        guard let elements = value.elements else { throw HubError.badRequest("The tags are not an array.") }
        var tags: [String] = []
        for element in elements {
            guard let text = element.text else { throw HubError.badRequest("A tag is not a string.") }
            append(try read(text), to: &tags)
        }
        return tags
    }

    private static func deviceTag(_ text: String) throws(HubError) -> String {
        guard TagSyntax.isTag(text) else {
            throw HubError.badRequest("A tag has 1 to 120 letters, digits and _ @ # . : - characters.")
        }
        return text
    }

    /// Blanks are allowed, as recorded in `Template Name`.
    fileprivate static func templateTag(_ text: String) throws(HubError) -> String {
        guard !text.isEmpty, text.unicodeScalars.count <= TagSyntax.maxLength, !text.contains(",") else {
            throw HubError.badRequest("A template's tag has 1 to 120 characters and no comma.")
        }
        return try checked(text, "tag")
    }

    /// Tags in the order of the service's responses: alphabetical without regard to case.
    static func sorted(_ tags: [String]) -> [String] {
        tags.map { (key: $0.lowercased(), tag: $0) }.sorted { ($0.key, $0.tag) < ($1.key, $1.tag) }.map(\.tag)
    }

    static func append(_ tag: String, to tags: inout [String]) {
        let lowered = tag.lowercased()
        if !tags.contains(where: { $0.lowercased() == lowered }) { tags.append(tag) }
    }
}

/// Values with names, in the order in which they were first set. Names are compared with regard to case.
struct NamedValues<Value: Equatable & Sendable>: Equatable, Sendable {
    struct Entry: Equatable, Sendable {
        let name: String
        var value: Value
    }

    private(set) var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    subscript(_ name: String) -> Value? {
        get { entries.first { $0.name == name }?.value }
        set {
            let index = entries.firstIndex { $0.name == name }
            switch (index, newValue) {
            case (let index?, let value?): entries[index].value = value
            case (let index?, nil): entries.remove(at: index)
            case (nil, let value?): entries.append(Entry(name: name, value: value))
            case (nil, nil): break
            }
        }
    }
}

extension NamedValues {
    /// Reads an object in an installation, or its JSON text.
    ///
    /// - Parameters:
    ///   - member: the name of the object, for errors.
    ///   - read: reads one of the values.
    /// - Throws: 400.
    init(
        _ value: JSONValue?, _ member: String, _ read: (JSONValue) throws(HubError) -> Value
    ) throws(HubError) {
        guard let value else { return }
        guard let members = value.orItsText.members else {
            throw HubError.badRequest("The \(member) are not an object.")
        }
        for part in members where part.value != .null {
            self[try InstallationText.checked(part.name, member)] = try read(part.value)
        }
    }

    /// Nil when there are none.
    func json(_ write: (Value) -> JSONValue) -> JSONValue? {
        isEmpty ? nil : .object(entries.map { JSONValue.Member($0.name, write($0.value)) })
    }
}

extension JSONValue {
    /// The value of its text if that is JSON, else the value itself: clients write objects either way.
    var orItsText: JSONValue { text.flatMap(JSONValue.init(text:)) ?? self }
}
