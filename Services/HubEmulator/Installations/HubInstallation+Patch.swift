extension HubInstallation {
    /// - Throws: 400 for a path that cannot be changed, or a value that does not fit there.
    mutating func apply(_ operation: InstallationPatch.Operation) throws(HubError) {
        let rest = Array(operation.path.dropFirst())
        switch operation.path[0].lowercased() {
        case "pushchannel" where rest.isEmpty && operation.kind != .remove:
            pushChannel = try PushChannel(operation.value, platform: platform)
        case "userid" where rest.isEmpty: userID = try Patching.text(operation.value, "userId")
        case "expirationtime" where rest.isEmpty:
            try setExpiration(try Patching.text(operation.value, "expirationTime"))
        case "tags": try Patching.apply(operation, to: &tags, at: rest)
        case "pushvariables": try Patching.apply(operation, to: &pushVariables, at: rest, "pushVariables")
        case "templates": try Patching.apply(operation, to: &templates, at: rest)
        case "secondarytiles": try Patching.apply(operation, to: &secondaryTiles, at: rest)
        default: throw Patching.unknownPath
        }
    }
}

/// The parts of a patch that installations and secondary tiles have in common.
private enum Patching {
    typealias Operation = InstallationPatch.Operation

    static let unknownPath = HubError.badRequest("The patch names a path that cannot be changed so.")

    /// Nil for a removal and for an empty text.
    static func text(_ value: JSONValue?, _ name: String) throws(HubError) -> String? {
        guard let value else { return nil }
        guard let text = value.text else { throw HubError.badRequest("The \(name) is not a string.") }
        return text.isEmpty ? nil : try InstallationText.checked(text, name)
    }

    /// `/tags`, `/tags/-` and `/tags/TAG`. One value is appended by `replace` too; an array replaces the list.
    static func apply(
        _ operation: Operation, to tags: inout [String], at path: [String],
        of owner: InstallationText.TagOwner = .device
    ) throws(HubError) {
        guard path.count <= 1 else { throw unknownPath }
        guard let name = path.first, name != "-" else {
            guard let value = operation.value else {
                tags = []
                return
            }
            if let list = value.elements ?? arrayInText(value) {
                let new = try InstallationText.tags(.array(list), of: owner)
                if operation.kind == .replace { tags = [] }
                for tag in new { InstallationText.append(tag, to: &tags) }
            } else {
                InstallationText.append(try InstallationText.tag(value, of: owner), to: &tags)
            }
            return
        }
        guard let value = operation.value else {
            tags.removeAll { $0.lowercased() == name.lowercased() }
            return
        }
        if operation.kind == .replace { tags.removeAll { $0.lowercased() == name.lowercased() } }
        InstallationText.append(try InstallationText.tag(value, of: owner), to: &tags)
    }

    private static func arrayInText(_ value: JSONValue) -> [JSONValue]? {
        value.text.flatMap { $0.first == "[" ? JSONValue(text: $0)?.elements : nil }
    }

    /// An object of strings as a whole, or one of its members.
    static func apply(
        _ operation: Operation, to values: inout NamedValues<String>, at path: [String], _ name: String
    ) throws(HubError) {
        guard path.count <= 1 else { throw unknownPath }
        if let key = path.first {
            values[try InstallationText.checked(key, name)] = try text(operation.value, name)
        } else {
            let object = operation.value.flatMap { $0.text.flatMap(JSONValue.init(text:)) ?? $0 }
            values = try InstallationText.strings(object, name)
        }
    }

    /// `/templates`, `/templates/NAME`, and below it `/body`, `/headers`, `/headers/NAME`, `/tags`, `/tags/TAG`,
    /// `/expiry`.
    static func apply(
        _ operation: Operation, to templates: inout NamedValues<InstallationTemplate>, at path: [String]
    ) throws(HubError) {
        guard let name = path.first else {
            let new = try InstallationTemplate.list(operation.value)
            if operation.kind != .add { templates = NamedValues() }
            for entry in new.entries { templates[entry.name] = entry.value }
            return
        }
        guard path.count > 1 else {
            let template = try operation.value.map { value throws(HubError) in try InstallationTemplate(value) }
            templates[try InstallationText.checked(name, "template's name")] = template
            return
        }
        if templates[name] == nil {
            if operation.kind == .remove { return }
            guard path.count == 2, path[1].lowercased() == "body" else {
                throw HubError.badRequest("The installation has no template of that name.")
            }
        }
        var template = templates[name] ?? InstallationTemplate(body: "")
        try apply(operation, to: &template, at: Array(path.dropFirst()))
        templates[try InstallationText.checked(name, "template's name")] = template
    }

    private static func apply(
        _ operation: Operation, to template: inout InstallationTemplate, at path: [String]
    ) throws(HubError) {
        let rest = Array(path.dropFirst())
        switch path[0].lowercased() {
        case "body" where rest.isEmpty:
            guard let body = try text(operation.value, "body") else {
                throw HubError.badRequest("The template has no body.")
            }
            template.body = body
        case "expiry" where rest.isEmpty: template.expiry = try text(operation.value, "expiry")
        case "headers": try apply(operation, to: &template.headers, at: rest, "headers")
        case "tags": try apply(operation, to: &template.tags, at: rest, of: .template)
        default: throw unknownPath
        }
    }

    /// `/secondaryTiles`, `/secondaryTiles/NAME`, and below it `/pushChannel`, `/tags…`, `/templates…`.
    static func apply(
        _ operation: Operation, to tiles: inout NamedValues<SecondaryTile>, at path: [String]
    ) throws(HubError) {
        guard let name = path.first else {
            let new = try SecondaryTile.list(operation.value)
            if operation.kind != .add { tiles = NamedValues() }
            for entry in new.entries { tiles[entry.name] = entry.value }
            return
        }
        guard path.count > 1 else {
            let tile = try operation.value.map { value throws(HubError) in try SecondaryTile(value) }
            tiles[try InstallationText.checked(name, "tile's name")] = tile
            return
        }
        let isChannel = path.count == 2 && path[1].lowercased() == "pushchannel"
        guard var tile = tiles[name] ?? (isChannel ? SecondaryTile(pushChannel: "") : nil) else {
            if operation.kind == .remove { return }
            throw HubError.badRequest("The installation has no secondary tile of that name.")
        }
        let rest = Array(path.dropFirst(2))
        switch path[1].lowercased() {
        case "pushchannel" where rest.isEmpty:
            guard let channel = try text(operation.value, "pushChannel") else { throw unknownPath }
            guard channel.utf8.count <= Device.maxHandleBytes else { throw Device.handleTooLong }
            tile.pushChannel = channel
        case "tags": try apply(operation, to: &tile.tags, at: rest)
        case "templates": try apply(operation, to: &tile.templates, at: rest)
        default: throw unknownPath
        }
        tiles[try InstallationText.checked(name, "tile's name")] = tile
    }
}
