import Foundations
import Storage

/// A registration of an export that belongs to an installation: its device, or one of its templates.
///
/// An export has no installations, only their registrations. So an installation is assembled from these.
struct ExportedPart: Sendable {
    let registrationID: String
    let handle: String
    /// See ``HubInstallation/Part/slot``.
    let slot: String
    /// The installation as far as this registration shows it: with one template and without tags, if it is a template.
    fileprivate let installation: HubInstallation

    /// The ID of the installation in lower case.
    var installationID: String { installation.id.lowercased() }

    private static let installationTag = "$installationid:{"
    private static let userTag = "$userid:{"

    /// - Parameter expiration: as the export has it.
    /// - Returns: `nil` for a registration without an installation. A secondary tile, which has another channel than
    ///   the installation, and a template without a name also count as such.
    /// - Throws: 400 for a registration that no installation can have.
    init?(_ registration: RegistrationEntry, expiration: String?) throws(HubError) {
        guard let id = Self.inner(of: Self.installationTag, in: registration.tags), InstallationText.isID(id),
            registration.field("SecondaryTileName")?.isEmpty != false
        else { return nil }
        let name = registration.field("TemplateName") ?? ""
        if registration.isTemplate, name.isEmpty { return nil }
        let tags = registration.tags.filter { $0.utf8.first != UInt8(ascii: "$") }
        var object = JSONValue([
            "platform": .string(registration.format.installationPlatform),
            "pushChannel": Self.channel(of: registration),
            "expirationTime": .optional(expiration),
            "userId": .optional(Self.inner(of: Self.userTag, in: registration.tags)),
            "pushVariables": registration.field("PushVariables").map { .string($0).orItsText },
        ])
        if registration.isTemplate {
            let template = Self.template(of: registration, tags: tags)
            object = object.setting("templates", to: .object([JSONValue.Member(name, template)]))
        } else {
            object = object.setting("tags", to: JSONValue(strings: tags))
        }
        installation = try HubInstallation(id: id, object: object)
        slot = registration.isTemplate ? "template\u{1}\(name)" : ""
        (registrationID, handle) = (registration.id, registration.handle)
    }

    /// The text in the braces of a special tag, which a registration has at most once.
    private static func inner(of prefix: String, in tags: [String]) -> String? {
        tags.first { $0.lowercased().hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count).dropLast()) }
    }

    private static func channel(of registration: RegistrationEntry) -> JSONValue {
        guard registration.format == .browser else { return .string(registration.handle) }
        return JSONValue([
            "endpoint": .string(registration.handle), "p256dh": .string(registration.field("P256DH") ?? ""),
            "auth": .string(registration.field("Auth") ?? ""),
        ])
    }

    private static func template(of registration: RegistrationEntry, tags: [String]) -> JSONValue {
        var headers: [JSONValue.Member] = []
        if let name = registration.format.templateHeaderElement {
            let list = registration.fields.first { $0.name == name + "s" }?.children ?? []
            headers = list.compactMap { header in
                guard let key = header.child("Header")?.text, let value = header.child("Value")?.text else {
                    return nil
                }
                return JSONValue.Member(key, .string(value))
            }
        }
        return JSONValue([
            "body": .string(registration.field("BodyTemplate") ?? ""),
            "headers": headers.isEmpty ? nil : .object(headers), "tags": JSONValue(strings: tags),
            "expiry": .optional(registration.field("Expiry")),
        ])
    }
}

extension HubInstallation {
    /// The installation that is assembled from some of its registrations.
    ///
    /// - Parameters:
    ///   - parts: those that are new, at least one.
    ///   - former: the installation that was assembled from earlier ones.
    /// - Throws: 400 if they contradict each other.
    init(_ parts: [ExportedPart], former: HubInstallation?) throws(HubError) {
        if former == nil, parts.count == 1, let only = parts.first {
            self = only.installation
            return
        }
        let device = parts.last { $0.slot.isEmpty }?.installation
        guard let root = device ?? former ?? parts.first?.installation else {
            throw HubError.badRequest("The installation has no registration.")
        }
        var templates = former?.templates ?? NamedValues()
        for part in parts {
            for template in part.installation.templates.entries { templates[template.name] = template.value }
        }
        // The registration of a template has the tags of the installation as well as its own.
        let shared = Set(root.tags.map { $0.lowercased() })
        let members = templates.entries.map { template in
            let own = template.value.tags.filter { !shared.contains($0.lowercased()) }
            let tags = own.isEmpty ? nil : JSONValue(strings: own)
            return JSONValue.Member(template.name, template.value.json.setting("tags", to: tags))
        }
        let object = root.json.setting("templates", to: members.isEmpty ? nil : .object(members))
        try self.init(id: root.id, object: object)
    }
}

extension HubImportBatch.Installation {
    /// - Parameter parts: the parts of one installation, at least one.
    init?(_ parts: [ExportedPart], exportedAt: Timestamp) {
        guard let id = parts.first?.installationID else { return nil }
        self.init(
            id: id, lines: parts.count, handles: Set(parts.map(\.handle)),
            ids: Dictionary(parts.map { ($0.slot, $0.registrationID) }) { _, last in last }
        ) { former in
            let installation = try HubInstallation(parts, former: former.flatMap(HubInstallation.init))
            return (installation.row(at: exportedAt), installation.registrations(at: exportedAt))
        }
    }
}
