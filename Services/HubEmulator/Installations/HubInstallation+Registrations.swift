extension HubInstallation {
    /// One registration that the installation shows up as: listings give it, and sends reach the device through it.
    struct Part: Sendable {
        /// The same for the same part through all changes; holds U+0001, which no name can.
        let slot: String
        let isTemplate: Bool
        let tags: [String]
        let handle: String
        let fields: [XMLElement]
    }

    /// The device itself, its templates, its secondary tiles and theirs. Recorded: tags begin with
    /// `$InstallationId:{…}` and are sorted, those of a template among those of the installation.
    var parts: [Part] {
        let special = ["$InstallationId:{\(id)}"] + (userID.map { ["$UserId:{\($0)}"] } ?? [])
        let variables = pushVariables.isEmpty ? [] : [element("PushVariables", pushVariables.json.json)]
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
    func registration(_ part: Part, id: String, at time: WireTime) -> Registration {
        Registration(
            id: id, version: 1, format: platform, isTemplate: part.isTemplate, tags: part.tags,
            lowercasedTags: Set(part.tags.map { $0.lowercased() }), handle: part.handle,
            fields: Registration.inOrder(part.fields, format: platform), updatedAt: time,
            expirationTime: expirationTime, installationID: self.id)
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
                    content: [.element(element("Header", entry.name)), .element(element("Value", entry.value))])
            }
            fields.append(
                XMLElement(header + "s", namespace: XMLNamespace.connect, content: headers.map { .element($0) }))
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
