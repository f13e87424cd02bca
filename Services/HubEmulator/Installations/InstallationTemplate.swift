/// A template of an installation: what a template send makes of its properties for this device.
struct InstallationTemplate: Equatable, Sendable {
    var body: String
    var headers = NamedValues<String>()
    var tags: [String] = []
    var expiry: String?

    init(body: String) {
        self.body = body
    }

    /// Reads the object, or the JSON text of it: patches hold one or the other, depending on the client.
    ///
    /// - Throws: 400.
    init(_ value: JSONValue) throws(HubError) {
        let object = value.text.flatMap(JSONValue.init(text:)) ?? value
        guard object.members != nil else { throw HubError.badRequest("The template is not a JSON object.") }
        guard let body = try InstallationText.optional("body", of: object) else {
            throw HubError.badRequest("The template has no body.")
        }
        self.body = body
        headers = try InstallationText.strings(object["headers"], "headers")
        tags = try InstallationText.tags(object["tags"], of: .template)
        expiry = try InstallationText.optional("expiry", of: object)
    }

    /// Reads the templates of an installation or a tile, by their names.
    ///
    /// - Throws: 400.
    static func list(_ value: JSONValue?) throws(HubError) -> NamedValues<InstallationTemplate> {
        guard let value else { return NamedValues() }
        guard let members = (value.text.flatMap(JSONValue.init(text:)) ?? value).members else {
            throw HubError.badRequest("The templates are not an object.")
        }
        var templates = NamedValues<InstallationTemplate>()
        for member in members where member.value != .null {
            templates[try InstallationText.checked(member.name, "template's name")] = try Self(member.value)
        }
        return templates
    }

    var json: JSONValue {
        var members = [JSONValue.Member(name: "body", value: .string(body))]
        if !headers.isEmpty { members.append(JSONValue.Member(name: "headers", value: headers.json)) }
        if let expiry { members.append(JSONValue.Member(name: "expiry", value: .string(expiry))) }
        if !tags.isEmpty { members.append(JSONValue.Member(name: "tags", value: .array(tags.map(JSONValue.string)))) }
        return .object(members)
    }
}

extension NamedValues<String> {
    var json: JSONValue { .object(entries.map { JSONValue.Member(name: $0.name, value: .string($0.value)) }) }
}

extension NamedValues<InstallationTemplate> {
    var json: JSONValue { .object(entries.map { JSONValue.Member(name: $0.name, value: $0.value.json) }) }
}
