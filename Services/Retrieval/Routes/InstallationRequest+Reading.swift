import Domain
import Foundations

extension InstallationRequest {
    /// - Parameter id: the ID in the path; one in the body must be the same.
    init?(_ json: inout JSONObjectReader, id: String) {
        let allTags = ClientTags()
        _ = json.optional("installationId", .id(id))
        let platform = json.required("platform", .installationPlatform)
        let channel = json.required("pushChannel", platform == .browser ? .browser : .channel)
        tags = json.optional("tags", allTags.rule) ?? []
        templates = json.optional("templates", .templates(allTags)) ?? []
        tiles = json.optional("secondaryTiles", .tiles(allTags)) ?? []
        expirationTime = json.optional("expirationTime", .hubTime)
        pushVariables = json.optional("pushVariables", .pairs) ?? []
        // The user is the caller, and only the hub sets the others.
        json.ignore("userId", "expiredPushChannel", "pushChannelExpired", "lastUpdate", "lastActiveOn")
        guard let platform, let channel else { return nil }
        (self.platform, self.channel) = (platform, channel)
    }
}

extension JSONRule<InstallationPlatform> {
    /// By either of its names; case does not matter.
    fileprivate static var installationPlatform: JSONRule {
        let names = InstallationPlatform.allCases.map(\.rawValue).joined(separator: ", ")
        return .string("The value must be one of: \(names).") { text in
            let name = Platform.deviceName(eitherName: text)
            return InstallationPlatform.allCases.first { $0.rawValue.equalsIgnoringASCIICase(name) }
        }
    }
}

extension JSONRule {
    /// The members of an object whose names the client chooses.
    fileprivate static func list<Element>(
        _ make: @escaping (_ name: String, inout JSONObjectReader) -> Element?
    ) -> JSONRule where Value == [Element] {
        JSONRule { json in
            var list: [Element] = []
            json.freeMembers { name, json in
                if let issue = HubText.issue(name) { json.note(issue) }
                if let element = make(name, &json) { list.append(element) }
            }
            return list
        }
    }
}

extension JSONRule<[InstallationRequest.Pair]> {
    fileprivate static var pairs: JSONRule {
        .list { name, json in json.read(.hubText).map { InstallationRequest.Pair(name: name, text: $0) } }
    }
}

extension JSONRule<[InstallationRequest.Template]> {
    fileprivate static func templates(_ allTags: ClientTags) -> JSONRule {
        .list { name, json in
            json.object { json in
                InstallationRequest.Template(
                    name: name, body: json.required("body", .hubText) ?? "",
                    headers: json.optional("headers", .pairs) ?? [], tags: json.optional("tags", allTags.rule) ?? [],
                    expiry: json.optional("expiry", .hubText))
            }
        }
    }
}

extension JSONRule<[InstallationRequest.Tile]> {
    fileprivate static func tiles(_ allTags: ClientTags) -> JSONRule {
        .list { name, json in
            json.object { json in
                InstallationRequest.Tile(
                    name: name, pushChannel: json.required("pushChannel", .handle) ?? "",
                    tags: json.optional("tags", allTags.rule) ?? [],
                    templates: json.optional("templates", .templates(allTags)) ?? [])
            }
        }
    }
}

extension JSONRule<InstallationRequest.Channel> {
    fileprivate static var channel: JSONRule { JSONRule { json in json.read(.handle).map { .handle($0) } } }

    fileprivate static var browser: JSONRule {
        .object { json in
            let endpoint = json.required("endpoint", .handle)
            let (p256dh, auth) = (json.required("p256dh", .handle), json.required("auth", .handle))
            guard let endpoint, let p256dh, let auth else { return nil }
            return .browser(endpoint: endpoint, p256dh: p256dh, auth: auth)
        }
    }
}

extension JSONRule<String> {
    fileprivate static func id(_ id: String) -> JSONRule {
        .text { text in
            guard DeviceID.isValid(text) else { return DeviceID.requirement }
            return text.equalsIgnoringASCIICase(id) ? nil : "The ID must be the same as in the path."
        }
    }

    fileprivate static var hubText: JSONRule { .text(HubText.issue) }

    /// A time as received, with upper-case `T` and `Z`. Official clients omit the offset of a time without a zone.
    fileprivate static var hubTime: JSONRule {
        JSONRule { json in
            guard let text = json.read(.hubText)?.uppercased() else { return nil }
            if Timestamp(rfc3339: text) == nil, Timestamp(rfc3339: text + "Z") == nil {
                json.note(Timestamp.requirement)
            } else if !HubText.isTime(text) {
                json.note("The UTC offset must be at most 14:00, and the time in UTC before the year 10000.")
            }
            return text
        }
    }
}

/// The limits of the hub.
private enum HubText {
    /// The hub also returns installations as XML, which cannot contain every character (XML 1.0, section 2.2).
    static func issue(_ text: String) -> String? {
        let isAllowed = text.unicodeScalars.allSatisfy { scalar in
            scalar.value >= 0x20 && scalar.value != 0xFFFE && scalar.value != 0xFFFF
                || [0x09, 0x0A, 0x0D].contains(scalar.value)
        }
        return isAllowed ? nil : "The text must not contain control characters, U+FFFE or U+FFFF."
    }

    /// .NET's `DateTimeOffset` has offsets up to 14 hours and years up to 9999.
    static func isTime(_ text: String) -> Bool {
        if let time = Timestamp(rfc3339: text), time.milliseconds > maxTime { return false }
        let offset = text.suffix(6)
        guard offset.first == "+" || offset.first == "-" else { return true }
        return offset.dropFirst() <= "14:00"
    }

    /// 9999-12-31T23:59:59.999Z in milliseconds since the Unix epoch.
    private static let maxTime: Int64 = 253_402_300_799_999
}
