import SecurePushCore

/// Reads an installation member by member.
struct InstallationReader {
    let id: String
    var request = InstallationRequest()
    private var tags = ClientTagReader()

    private static let members = [
        "installationId", "platform", "pushChannel", "tags", "templates", "secondaryTiles", "userId", "expirationTime",
        "pushVariables", "expiredPushChannel", "pushChannelExpired", "lastUpdate", "lastActiveOn",
    ]

    init(id: String) { self.id = id }

    mutating func read(_ json: inout JSONObjectReader) {
        let members = json.members(of: json.root, known: Self.members, required: ["platform", "pushChannel"])
        // The platform determines the form of the channel, whichever comes first.
        for member in members where member.name == "platform" { readPlatform(member, &json) }
        for member in members {
            switch member.name {
            case "installationId": checkID(member, &json)
            case "pushChannel": readChannel(member, &json)
            case "tags": request.tags = tags.read(member, &json)
            case "templates": request.templates = readTemplates(member, &json)
            case "secondaryTiles": request.tiles = readTiles(member, &json)
            case "expirationTime": request.expirationTime = time(member, &json)
            case "pushVariables": request.pushVariables = readPairs(member, &json)
            // The platform is read already, the user is the caller, and only the hub sets the others.
            default: break
            }
        }
    }

    private func checkID(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        guard member.value.kind != .null, let text = json.string(member.value, at: member.pointer) else { return }
        if !DeviceID.isValid(text) {
            json.note(member.pointer, DeviceID.requirement)
        } else if !text.equalsIgnoringASCIICase(id) {
            json.note(member.pointer, "The ID must be the same as in the path.")
        }
    }

    /// The case of the name does not matter: official clients write `fcmV1` and `FCMV1`.
    private mutating func readPlatform(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        let platform = json.choice(member.value, at: member.pointer, of: InstallationPlatform.self, ignoringCase: true)
        if let platform { request.platform = platform }
    }

    private mutating func readChannel(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) {
        guard request.platform == .browser else {
            if let handle = handle(member, &json) { request.channel = .handle(handle) }
            return
        }
        let names = ["endpoint", "p256dh", "auth"]
        var texts: [String: String] = [:]
        for part in json.members(of: member.value, at: member.pointer, known: names, required: names) {
            texts[part.name] = handle(part, &json)
        }
        if let endpoint = texts["endpoint"], let p256dh = texts["p256dh"], let auth = texts["auth"] {
            request.channel = .browser(endpoint: endpoint, p256dh: p256dh, auth: auth)
        }
    }

    private mutating func readTiles(
        _ member: JSONObjectReader.Member, _ json: inout JSONObjectReader
    ) -> [InstallationRequest.Tile] {
        freeMembers(of: member, &json).map { found in
            checkText(found.name, at: found.pointer, &json)
            var tile = InstallationRequest.Tile(name: found.name)
            let parts = json.members(
                of: found.value, at: found.pointer, known: ["pushChannel", "tags", "templates"],
                required: ["pushChannel"])
            for part in parts {
                switch part.name {
                case "pushChannel": tile.pushChannel = handle(part, &json) ?? ""
                case "tags": tile.tags = tags.read(part, &json)
                default: tile.templates = readTemplates(part, &json)
                }
            }
            return tile
        }
    }

    private mutating func readTemplates(
        _ member: JSONObjectReader.Member, _ json: inout JSONObjectReader
    ) -> [InstallationRequest.Template] {
        freeMembers(of: member, &json).map { found in
            checkText(found.name, at: found.pointer, &json)
            var template = InstallationRequest.Template(name: found.name)
            let parts = json.members(
                of: found.value, at: found.pointer, known: ["body", "headers", "tags", "expiry"], required: ["body"])
            for part in parts {
                switch part.name {
                case "body": template.body = text(part, &json) ?? ""
                case "headers": template.headers = readPairs(part, &json)
                case "tags": template.tags = tags.read(part, &json)
                default: template.expiry = optionalText(part, &json)
                }
            }
            return template
        }
    }

    private func readPairs(
        _ member: JSONObjectReader.Member, _ json: inout JSONObjectReader
    ) -> [InstallationRequest.Pair] {
        freeMembers(of: member, &json).map { found in
            checkText(found.name, at: found.pointer, &json)
            return InstallationRequest.Pair(name: found.name, text: text(found, &json) ?? "")
        }
    }

    /// The members of an object, which may be `null`, with names of the client's choice.
    private func freeMembers(
        of member: JSONObjectReader.Member, _ json: inout JSONObjectReader
    ) -> [JSONObjectReader.Member] {
        member.value.kind == .null ? [] : json.freeMembers(of: member.value, at: member.pointer)
    }

    /// A time as received, with upper-case `T` and `Z`. Official clients omit the offset of a time without a zone.
    private func time(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) -> String? {
        guard let text = optionalText(member, &json)?.uppercased() else { return nil }
        if Timestamp(rfc3339: text) == nil, Timestamp(rfc3339: text + "Z") == nil {
            json.note(member.pointer, "The time must be in RFC 3339 format, for example 2026-11-21T08:30:00Z.")
        } else if !Self.isHubTime(text) {
            json.note(
                member.pointer, "The UTC offset must be at most 14:00, and the time in UTC before the year 10000.")
        }
        return text
    }

    /// Whether the hub can store a time: .NET's `DateTimeOffset` has offsets up to 14 hours and years up to 9999.
    private static func isHubTime(_ text: String) -> Bool {
        if let time = Timestamp(rfc3339: text), time.milliseconds > maxTime { return false }
        let offset = text.suffix(6)
        guard offset.first == "+" || offset.first == "-" else { return true }
        return offset.dropFirst() <= "14:00"
    }

    /// 9999-12-31T23:59:59.999Z in milliseconds since the Unix epoch.
    private static let maxTime: Int64 = 253_402_300_799_999

    private func optionalText(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) -> String? {
        member.value.kind == .null ? nil : text(member, &json)
    }

    private func text(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) -> String? {
        guard let text = json.string(member.value, at: member.pointer) else { return nil }
        checkText(text, at: member.pointer, &json)
        return text
    }

    /// The hub also returns installations as XML, which cannot contain every character (XML 1.0, section 2.2).
    private func checkText(_ text: String, at pointer: String, _ json: inout JSONObjectReader) {
        let isAllowed = text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                || [0x09, 0x0A, 0x0D].contains(scalar.value)
        }
        if !isAllowed { json.note(pointer, "The text must not contain control characters, U+FFFE or U+FFFF.") }
    }

    /// A part of a push channel.
    private func handle(_ member: JSONObjectReader.Member, _ json: inout JSONObjectReader) -> String? {
        guard let handle = json.string(member.value, at: member.pointer) else { return nil }
        if let issue = DeviceHandle.issue(handle) { json.note(member.pointer, issue) }
        return handle
    }
}
