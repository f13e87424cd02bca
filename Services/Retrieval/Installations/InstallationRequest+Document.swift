import SecurePushCore

extension InstallationRequest {
    /// The installation as the hub gets it: its own form, with the user's tag, and the user as `userId`.
    ///
    /// Written anew from what was checked, not passed on, so that nothing reaches the hub that was not looked at.
    func document(id: String, user: UserName) -> [UInt8] {
        var json = ObjectWriter()
        json.text("installationId", id)
        json.text("userId", user.encodedName)
        json.text("platform", platform.rawValue)
        switch channel {
        case .handle(let handle): json.text("pushChannel", handle)
        case .browser(let endpoint, let p256dh, let auth):
            json.object("pushChannel") { channel in
                channel.text("endpoint", endpoint)
                channel.text("p256dh", p256dh)
                channel.text("auth", auth)
            }
        }
        json.texts("tags", tags + [user.tag])
        json.templates(templates)
        if !tiles.isEmpty {
            json.object("secondaryTiles") { all in
                for tile in tiles {
                    all.object(tile.name) { json in
                        json.text("pushChannel", tile.pushChannel)
                        json.texts("tags", tile.tags)
                        json.templates(tile.templates)
                    }
                }
            }
        }
        if let expirationTime { json.text("expirationTime", expirationTime) }
        json.pairs("pushVariables", pushVariables)
        return json.closed
    }
}

extension UserName {
    /// The NAME in ``tag``: a user ID that the hub takes, for it makes the tag `$UserId:{ID}` of it.
    fileprivate var encodedName: String { String(tag.dropFirst("username:".count)) }
}

/// Writes the members of a JSON object; lists and objects without content are left out.
private struct ObjectWriter {
    private var bytes: [UInt8] = [UInt8(ascii: "{")]

    init() { bytes.reserveCapacity(512) }

    var closed: [UInt8] { bytes + [UInt8(ascii: "}")] }

    mutating func text(_ name: String, _ text: String) {
        self.name(name)
        JSONText.append(text, to: &bytes)
    }

    mutating func texts(_ name: String, _ texts: [String]) {
        if texts.isEmpty { return }
        self.name(name)
        bytes.append(UInt8(ascii: "["))
        for (position, text) in texts.enumerated() {
            if position > 0 { bytes.append(UInt8(ascii: ",")) }
            JSONText.append(text, to: &bytes)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    mutating func object(_ name: String, _ body: (inout ObjectWriter) -> Void) {
        self.name(name)
        var object = ObjectWriter()
        body(&object)
        bytes.append(contentsOf: object.closed)
    }

    mutating func pairs(_ name: String, _ pairs: [InstallationRequest.Pair]) {
        if pairs.isEmpty { return }
        object(name) { object in
            for pair in pairs { object.text(pair.name, pair.text) }
        }
    }

    mutating func templates(_ templates: [InstallationRequest.Template]) {
        if templates.isEmpty { return }
        object("templates") { all in
            for template in templates {
                all.object(template.name) { json in
                    json.text("body", template.body)
                    json.pairs("headers", template.headers)
                    json.texts("tags", template.tags)
                    if let expiry = template.expiry { json.text("expiry", expiry) }
                }
            }
        }
    }

    private mutating func name(_ name: String) {
        if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
        JSONText.append(name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
    }
}
