import SecurePushCore
import ServiceRuntime

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

    mutating func read(_ reader: inout JSONObjectReader) {
        let members = reader.members(of: reader.root, known: Self.members, required: ["platform", "pushChannel"])
        // The platform decides the form of the channel, wherever the two stand.
        for member in members where member.name == "platform" { readPlatform(member, &reader) }
        for member in members {
            switch member.name {
            case "installationId": checkID(member, &reader)
            case "pushChannel": readChannel(member, &reader)
            case "tags": request.tags = tags.read(member, &reader)
            case "templates": request.templates = readTemplates(member, &reader)
            case "secondaryTiles": request.tiles = readTiles(member, &reader)
            case "expirationTime": request.expirationTime = time(member, &reader)
            case "pushVariables": request.pushVariables = readPairs(member, &reader)
            // The platform is read already; the user is the caller; the others are the hub's to tell.
            default: break
            }
        }
    }

    private func checkID(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) {
        guard member.value.kind != .null, let text = reader.string(member.value, at: member.pointer) else { return }
        if !DeviceID.isValid(text) {
            reader.note(member.pointer, DeviceID.requirement)
        } else if !text.equalsIgnoringASCIICase(id) {
            reader.note(member.pointer, "The ID must be the one in the path.")
        }
    }

    private mutating func readPlatform(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) {
        guard let name = reader.string(member.value, at: member.pointer) else { return }
        guard let platform = InstallationPlatform(name: name) else {
            let names = InstallationPlatform.allCases.map(\.rawValue).joined(separator: ", ")
            reader.note(member.pointer, "The platform must be one of: \(names).")
            return
        }
        request.platform = platform
    }

    private mutating func readChannel(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) {
        guard request.platform == .browser else {
            if let handle = handle(member, &reader) { request.channel = .handle(handle) }
            return
        }
        let names = ["endpoint", "p256dh", "auth"]
        var texts: [String: String] = [:]
        for part in reader.members(of: member.value, at: member.pointer, known: names, required: names) {
            texts[part.name] = handle(part, &reader)
        }
        if let endpoint = texts["endpoint"], let p256dh = texts["p256dh"], let auth = texts["auth"] {
            request.channel = .browser(endpoint: endpoint, p256dh: p256dh, auth: auth)
        }
    }

    private mutating func readTiles(
        _ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader
    ) -> [InstallationRequest.Tile] {
        if member.value.kind == .null { return [] }
        return reader.freeMembers(of: member.value, at: member.pointer).map { found in
            checkText(found.name, at: found.pointer, &reader)
            var tile = InstallationRequest.Tile(name: found.name)
            let members = reader.members(
                of: found.value, at: found.pointer, known: ["pushChannel", "tags", "templates"],
                required: ["pushChannel"])
            for member in members {
                switch member.name {
                case "pushChannel": tile.pushChannel = handle(member, &reader) ?? ""
                case "tags": tile.tags = tags.read(member, &reader)
                default: tile.templates = readTemplates(member, &reader)
                }
            }
            return tile
        }
    }

    private mutating func readTemplates(
        _ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader
    ) -> [InstallationRequest.Template] {
        if member.value.kind == .null { return [] }
        return reader.freeMembers(of: member.value, at: member.pointer).map { found in
            checkText(found.name, at: found.pointer, &reader)
            var template = InstallationRequest.Template(name: found.name)
            let members = reader.members(
                of: found.value, at: found.pointer, known: ["body", "headers", "tags", "expiry"], required: ["body"])
            for member in members {
                switch member.name {
                case "body": template.body = text(member, &reader) ?? ""
                case "headers": template.headers = readPairs(member, &reader)
                case "tags": template.tags = tags.read(member, &reader)
                default: template.expiry = optionalText(member, &reader)
                }
            }
            return template
        }
    }

    private func readPairs(
        _ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader
    ) -> [InstallationRequest.Pair] {
        if member.value.kind == .null { return [] }
        return reader.freeMembers(of: member.value, at: member.pointer).map { found in
            checkText(found.name, at: found.pointer, &reader)
            return InstallationRequest.Pair(name: found.name, text: text(found, &reader) ?? "")
        }
    }

    /// A time as it came, with `T` and `Z` as capitals; official clients leave out the offset of one that they know no
    /// zone of.
    private func time(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) -> String? {
        guard let text = optionalText(member, &reader)?.uppercased() else { return nil }
        if Timestamp(rfc3339: text) == nil, Timestamp(rfc3339: text + "Z") == nil {
            reader.note(member.pointer, "The time must be written as RFC 3339 says, such as 2026-11-21T08:30:00Z.")
        } else if !Self.isHubTime(text) {
            reader.note(
                member.pointer, "The time's offset is at most 14:00, and the time in UTC is before the year 10000.")
        }
        return text
    }

    /// Whether the hub can hold a time: .NET's `DateTimeOffset` has offsets up to 14 hours and years up to 9999.
    private static func isHubTime(_ text: String) -> Bool {
        if let time = Timestamp(rfc3339: text), time.milliseconds > maxTime { return false }
        let offset = text.suffix(6)
        guard offset.first == "+" || offset.first == "-" else { return true }
        return offset.dropFirst() <= "14:00"
    }

    /// 9999-12-31T23:59:59.999Z in milliseconds since the Unix epoch.
    private static let maxTime: Int64 = 253_402_300_799_999

    private func optionalText(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) -> String? {
        member.value.kind == .null ? nil : text(member, &reader)
    }

    private func text(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) -> String? {
        guard let text = reader.string(member.value, at: member.pointer) else { return nil }
        checkText(text, at: member.pointer, &reader)
        return text
    }

    /// The hub shows installations as XML too, which cannot hold every character (XML 1.0, section 2.2).
    private func checkText(_ text: String, at pointer: String, _ reader: inout JSONObjectReader) {
        let isAllowed = text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                || [0x09, 0x0A, 0x0D].contains(scalar.value)
        }
        if !isAllowed { reader.note(pointer, "The text holds a control character, U+FFFE or U+FFFF.") }
    }

    /// A channel's text.
    private func handle(_ member: JSONObjectReader.Member, _ reader: inout JSONObjectReader) -> String? {
        guard let handle = reader.string(member.value, at: member.pointer) else { return nil }
        if let issue = DeviceHandle.issue(handle) { reader.note(member.pointer, issue) }
        return handle
    }
}
