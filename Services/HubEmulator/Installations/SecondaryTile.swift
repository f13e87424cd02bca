/// A further tile of a Windows app, with a channel of its own.
struct SecondaryTile: Equatable, Sendable {
    var pushChannel: String
    var tags: [String] = []
    var templates = NamedValues<InstallationTemplate>()

    init(pushChannel: String) {
        self.pushChannel = pushChannel
    }

    /// Reads the object, or the JSON text of it.
    ///
    /// - Throws: 400.
    init(_ value: JSONValue) throws(HubError) {
        let object = value.text.flatMap(JSONValue.init(text:)) ?? value
        guard object.members != nil else { throw HubError.badRequest("The secondary tile is not a JSON object.") }
        guard let channel = try InstallationText.optional("pushChannel", of: object) else {
            throw HubError.badRequest("The secondary tile has no pushChannel.")
        }
        guard channel.utf8.count <= Device.maxHandleBytes else { throw Device.handleTooLong }
        pushChannel = channel
        tags = try InstallationText.tags(object["tags"])
        templates = try InstallationTemplate.list(object["templates"])
    }

    /// - Throws: 400.
    static func list(_ value: JSONValue?) throws(HubError) -> NamedValues<SecondaryTile> {
        guard let value else { return NamedValues() }
        guard let members = (value.text.flatMap(JSONValue.init(text:)) ?? value).members else {
            throw HubError.badRequest("The secondaryTiles are not an object.")
        }
        var tiles = NamedValues<SecondaryTile>()
        for member in members where member.value != .null {
            tiles[try InstallationText.checked(member.name, "tile's name")] = try Self(member.value)
        }
        return tiles
    }

    var json: JSONValue {
        var members = [JSONValue.Member(name: "pushChannel", value: .string(pushChannel))]
        if !tags.isEmpty { members.append(JSONValue.Member(name: "tags", value: .array(tags.map(JSONValue.string)))) }
        if !templates.isEmpty { members.append(JSONValue.Member(name: "templates", value: templates.json)) }
        return .object(members)
    }
}
