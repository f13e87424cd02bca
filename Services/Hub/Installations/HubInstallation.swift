import Foundations

/// An installation: one app on one device, described by one JSON document.
struct HubInstallation: Equatable, Sendable {
    /// The service's spelling of "never".
    static let never = "9999-12-31T23:59:59.9999999Z"
    /// The maximum size of a document that patches make: that of a request.
    static let maxBytes = 64 * 1024

    let id: String
    let platform: NotificationFormat
    let pushChannel: PushChannel
    let userID: String?
    /// As written by the client.
    let expirationTime: String
    /// Nil: never.
    let expiresAt: Timestamp?
    let tags: [String]
    let pushVariables: NamedValues<String>
    let templates: NamedValues<InstallationTemplate>
    let secondaryTiles: NamedValues<SecondaryTile>

    /// Reads the document of a PUT.
    ///
    /// - Throws: 400 with the reason.
    init(id: String, document bytes: [UInt8]) throws(HubError) {
        let object: JSONValue
        do {
            object = try JSONValue(bytes)
        } catch {
            throw HubError.badRequest("The installation cannot be read: \(error.description).")
        }
        try self.init(id: id, object: object)
    }

    /// - Throws: 400 with the reason.
    init(id: String, object: JSONValue) throws(HubError) {
        guard object.members != nil else { throw HubError.badRequest("The installation is not a JSON object.") }
        if let own = try InstallationText.optional("installationId", of: object),
            own.lowercased() != id.lowercased()
        {
            throw HubError.badRequest("The installationId is not the one in the URL.")
        }
        guard let name = try InstallationText.optional("platform", of: object),
            let platform = NotificationFormat(installationPlatform: name)
        else { throw HubError.badRequest("The platform is missing or unknown.") }
        self.id = id
        self.platform = platform
        pushChannel = try PushChannel(object[ignoringCase: "pushChannel"], platform: platform)
        userID = try InstallationText.optional("userId", of: object)
        tags = try InstallationText.tags(object[ignoringCase: "tags"])
        pushVariables = try InstallationText.strings(object[ignoringCase: "pushVariables"], "pushVariables")
        templates = try NamedValues(object[ignoringCase: "templates"], "templates", InstallationTemplate.init)
        secondaryTiles = try NamedValues(object[ignoringCase: "secondaryTiles"], "secondaryTiles", SecondaryTile.init)
        let expiration = try InstallationText.optional("expirationTime", of: object) ?? Self.never
        expirationTime = expiration.hasPrefix("9999-12-31") ? Self.never : expiration
        expiresAt = expirationTime == Self.never ? nil : Timestamp(iso8601: expirationTime)
        guard expiresAt != nil || expirationTime == Self.never else {
            throw HubError.badRequest("The expirationTime must be a time such as 2026-11-21T10:00:00Z.")
        }
        try validate()
    }

    /// Checks the document as a whole.
    ///
    /// - Throws: 400.
    private func validate() throws(HubError) {
        let templates = [templates] + secondaryTiles.entries.map(\.value.templates)
        let tagLists =
            [tags] + secondaryTiles.entries.map(\.value.tags) + templates.flatMap { $0.entries.map(\.value.tags) }
        guard tagLists.allSatisfy({ $0.count <= InstallationText.maxTags }) else {
            throw HubError.badRequest("An installation has at most \(InstallationText.maxTags) tags.")
        }
        // Each template and each tile is a registration of its own, with all tags and variables.
        guard templates.reduce(secondaryTiles.count, { $0 + $1.count }) <= InstallationText.maxParts,
            pushVariables.count <= InstallationText.maxParts
        else {
            let limit = InstallationText.maxParts
            throw HubError.badRequest(
                "An installation has at most \(limit) templates and tiles, and \(limit) variables.")
        }
        for part in parts { try TagSyntax.checkSpecialTags(part.tags) }
        guard secondaryTiles.isEmpty || platform == .windows || platform == .windowsphone else {
            throw HubError.badRequest("Only installations of wns have secondaryTiles.")
        }
    }

    /// The response to a GET, members in the recorded order, without empty ones.
    var json: JSONValue {
        JSONValue([
            "installationId": .string(id),
            "pushChannel": pushChannel.json,
            "pushChannelExpired": .boolean(false),
            "platform": .string(platform.installationPlatform),
            "expirationTime": .string(expirationTime),
            "userId": .optional(userID),
            "tags": tags.isEmpty ? nil : JSONValue(strings: InstallationText.sorted(tags)),
            "pushVariables": pushVariables.json(JSONValue.string),
            "templates": templates.json(\.json),
            "secondaryTiles": secondaryTiles.json(\.json),
        ])
    }
}

/// The device's ID at its platform's push service: one text, or a browser's three.
enum PushChannel: Equatable, Sendable {
    case handle(String)
    /// `isText`: written as JSON text of the object (.NET) and not as the object (JavaScript, Java), in responses too.
    case browser(endpoint: String, p256dh: String, auth: String, isText: Bool)

    /// - Throws: 400.
    init(_ value: JSONValue?, platform: NotificationFormat) throws(HubError) {
        guard platform == .browser else {
            guard let text = value?.text, !text.isEmpty else {
                throw HubError.badRequest("The pushChannel is missing or not a string.")
            }
            if platform == .baidu, !text.contains("-") {
                throw HubError.badRequest("The pushChannel of Baidu is the user ID, a hyphen and the channel ID.")
            }
            self = .handle(try InstallationText.checkedHandle(text, "pushChannel"))
            return
        }
        let object = value?.orItsText
        guard let endpoint = object?[ignoringCase: "endpoint"]?.text,
            let p256dh = object?[ignoringCase: "p256dh"]?.text,
            let auth = object?[ignoringCase: "auth"]?.text, !endpoint.isEmpty, !p256dh.isEmpty, !auth.isEmpty
        else {
            throw HubError.badRequest("The pushChannel of a browser is an object of endpoint, p256dh and auth.")
        }
        self = .browser(
            endpoint: try InstallationText.checkedHandle(endpoint, "endpoint"),
            p256dh: try InstallationText.checked(p256dh, "p256dh"), auth: try InstallationText.checked(auth, "auth"),
            isText: value?.text != nil)
    }

    var json: JSONValue {
        switch self {
        case .handle(let handle): return .string(handle)
        case .browser(let endpoint, let p256dh, let auth, let isText):
            let object = JSONValue([
                "endpoint": .string(endpoint), "p256dh": .string(p256dh), "auth": .string(auth),
            ])
            return isText ? .string(object.json) : object
        }
    }

    /// The values of the registration elements `NotificationFormat.handleFields`, in their order.
    func fieldValues(of platform: NotificationFormat) -> [String] {
        switch self {
        case .browser(let endpoint, let p256dh, let auth, _): [endpoint, p256dh, auth]
        case .handle(let handle) where platform == .apple: [handle.uppercased()]
        case .handle(let handle) where platform == .baidu:
            handle.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        case .handle(let handle): [handle]
        }
    }
}

// MARK: Registrations

extension HubInstallation {
    /// One registration of the installation: lists contain it, and sends reach the device through it.
    struct Part: Sendable {
        /// The key of the part, which changes do not alter; contains U+0001, which no name can.
        let slot: String
        let isTemplate: Bool
        let tags: [String]
        let handle: String
        let fields: [XMLElement]
    }

    /// The device itself, its templates, its secondary tiles and their templates. Recorded: tags begin with
    /// `$InstallationId:{…}` and are sorted; those of a template are merged with those of the installation.
    var parts: [Part] {
        let special = ["$InstallationId:{\(id)}"] + (userID.map { ["$UserId:{\($0)}"] } ?? [])
        let variables = pushVariables.json(JSONValue.string).map { [element("PushVariables", $0.json)] } ?? []
        let values = pushChannel.fieldValues(of: platform)
        let base = variables + zip(platform.handleFields, values).map { element($0, $1) }
        let handle = platform == .baidu ? values.joined(separator: "-") : values.first ?? ""
        var parts = parts(of: templates, slot: "", tags: special + tags, handle: handle, fields: base)
        for tile in secondaryTiles.entries {
            let fields =
                variables
                + [element("ChannelUri", tile.value.pushChannel), element("SecondaryTileName", tile.name)]
            parts += self.parts(
                of: tile.value.templates, slot: "tile\u{1}\(tile.name)\u{1}", tags: special + tile.value.tags,
                handle: tile.value.pushChannel, fields: fields)
        }
        return parts
    }

    /// The registration of a part.
    func registration(_ part: Part, id: String, at time: Timestamp) -> RegistrationEntry {
        var registration = RegistrationEntry(
            id: id, format: platform, isTemplate: part.isTemplate, tags: part.tags, handle: part.handle,
            fields: part.fields, updatedAt: time)
        registration.expirationTime = expirationTime
        registration.installationID = self.id
        return registration
    }

    private func parts(
        of templates: NamedValues<InstallationTemplate>, slot: String, tags: [String], handle: String,
        fields: [XMLElement]
    ) -> [Part] {
        let native = Part(
            slot: slot, isTemplate: false, tags: Self.unrepeated(tags), handle: handle, fields: fields)
        return [native]
            + templates.entries.map { entry in
                Part(
                    slot: "\(slot)template\u{1}\(entry.name)", isTemplate: true,
                    tags: Self.unrepeated(tags + entry.value.tags), handle: handle,
                    fields: fields + templateFields(entry.value, name: entry.name))
            }
    }

    private func templateFields(_ template: InstallationTemplate, name: String) -> [XMLElement] {
        var fields = [element("BodyTemplate", template.body), element("TemplateName", name)]
        if let expiry = template.expiry { fields.append(element("Expiry", expiry)) }
        if let header = platform.templateHeaderElement, !template.headers.isEmpty {
            let headers = template.headers.entries.map { entry in
                XMLElement(
                    header, namespace: XMLNamespace.connect,
                    children: [element("Header", entry.name), element("Value", entry.value)])
            }
            fields.append(XMLElement(header + "s", namespace: XMLNamespace.connect, children: headers))
        }
        return fields
    }

    private func element(_ name: String, _ text: String) -> XMLElement {
        XMLElement(name, namespace: XMLNamespace.connect, text: text)
    }

    private static func unrepeated(_ tags: [String]) -> [String] {
        var result: [String] = []
        for tag in tags { InstallationText.append(tag, to: &result) }
        return InstallationText.sorted(result)
    }
}
