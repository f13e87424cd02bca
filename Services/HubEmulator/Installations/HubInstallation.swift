import SecurePushCore

/// An installation: one app on one device, with all that the hub knows of it in a single JSON document.
struct HubInstallation: Equatable, Sendable {
    /// How the service writes "never".
    static let never = "9999-12-31T23:59:59.9999999Z"

    let id: String
    let platform: NotificationFormat
    var pushChannel: PushChannel
    var userID: String?
    /// As the client wrote it.
    var expirationTime = HubInstallation.never
    /// Nil: never.
    var expiresAt: WireTime?
    var tags: [String]
    var pushVariables: NamedValues<String>
    var templates: NamedValues<InstallationTemplate>
    var secondaryTiles: NamedValues<SecondaryTile>

    /// Reads the document of a PUT.
    ///
    /// - Throws: 400 that says what is wrong.
    init(id: String, document bytes: [UInt8]) throws(HubError) {
        let object: JSONValue
        do {
            object = try JSONValue(bytes)
        } catch {
            throw HubError.badRequest("The installation cannot be read: \(error.description).")
        }
        guard object.members != nil else { throw HubError.badRequest("The installation is not a JSON object.") }
        if let own = try InstallationText.optional("installationId", of: object),
            own.lowercased() != id.lowercased()
        {
            throw HubError.badRequest("The installationId is not the one in the URL.")
        }
        guard let name = try InstallationText.optional("platform", of: object),
            let platform = NotificationFormat(installationPlatform: name)
        else { throw HubError.badRequest("The platform is missing or not known.") }
        self.id = id
        self.platform = platform
        pushChannel = try PushChannel(object["pushChannel"], platform: platform)
        userID = try InstallationText.optional("userId", of: object)
        tags = try InstallationText.tags(object["tags"])
        pushVariables = try InstallationText.strings(object["pushVariables"], "pushVariables")
        templates = try InstallationTemplate.list(object["templates"])
        secondaryTiles = try SecondaryTile.list(object["secondaryTiles"])
        try setExpiration(try InstallationText.optional("expirationTime", of: object))
        try validate()
    }

    /// - Parameter text: nil for never.
    /// - Throws: 400 when it is no time.
    mutating func setExpiration(_ text: String?) throws(HubError) {
        guard let text, !text.hasPrefix("9999-12-31") else {
            expirationTime = Self.never
            expiresAt = nil
            return
        }
        guard let time = WireTime(iso8601: text) else {
            throw HubError.badRequest("The expirationTime is not a time as 2026-11-21T10:00:00Z.")
        }
        expirationTime = text
        expiresAt = time
    }

    /// What must hold of a document as a whole, after a PUT and after each patch.
    ///
    /// - Throws: 400.
    func validate() throws(HubError) {
        let templates = [templates] + secondaryTiles.entries.map(\.value.templates)
        let tagLists =
            [tags] + secondaryTiles.entries.map(\.value.tags) + templates.flatMap { $0.entries.map(\.value.tags) }
        guard tagLists.allSatisfy({ $0.count <= InstallationText.maximumTags }) else {
            throw HubError.badRequest("An installation has at most \(InstallationText.maximumTags) tags.")
        }
        guard templates.allSatisfy({ $0.count <= InstallationText.maximumParts }),
            secondaryTiles.count <= InstallationText.maximumParts,
            pushVariables.count <= InstallationText.maximumParts
        else { throw HubError.badRequest("An installation has at most \(InstallationText.maximumParts) templates.") }
        for part in parts { try TagSyntax.checkSpecialTags(part.tags) }
        guard secondaryTiles.isEmpty || platform == .windows || platform == .windowsphone else {
            throw HubError.badRequest("Only installations of wns have secondaryTiles.")
        }
    }

    /// The answer to a GET, members in the recorded order, empty ones left out.
    var json: JSONValue {
        var members = [
            JSONValue.Member(name: "installationId", value: .string(id)),
            JSONValue.Member(name: "pushChannel", value: pushChannel.json),
            JSONValue.Member(name: "pushChannelExpired", value: .boolean(false)),
            JSONValue.Member(name: "platform", value: .string(platform.installationPlatform)),
            JSONValue.Member(name: "expirationTime", value: .string(expirationTime)),
        ]
        if let userID { members.append(JSONValue.Member(name: "userId", value: .string(userID))) }
        if !tags.isEmpty {
            let sorted = InstallationText.sorted(tags).map(JSONValue.string)
            members.append(JSONValue.Member(name: "tags", value: .array(sorted)))
        }
        if !pushVariables.isEmpty { members.append(JSONValue.Member(name: "pushVariables", value: pushVariables.json)) }
        if !templates.isEmpty { members.append(JSONValue.Member(name: "templates", value: templates.json)) }
        if !secondaryTiles.isEmpty {
            let tiles = secondaryTiles.entries.map { JSONValue.Member(name: $0.name, value: $0.value.json) }
            members.append(JSONValue.Member(name: "secondaryTiles", value: .object(tiles)))
        }
        return .object(members)
    }
}
