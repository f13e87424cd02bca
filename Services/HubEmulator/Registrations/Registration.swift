/// A registration on a hub.
struct Registration: Sendable {
    /// What the service answers to a create or update. Reads and listings have a `Z` behind it, also recorded.
    static let never = "9999-12-31T23:59:59.999"

    let id: String
    /// Counts the changes; the ETag is made of it.
    var version: Int
    let format: NotificationFormat
    let isTemplate: Bool
    let tags: [String]
    let lowercasedTags: Set<String>
    /// What the platform's push service knows the device by.
    let handle: String
    /// The elements of the description other than those that the hub sets, in the order they came, unknown ones too.
    let fields: [XMLElement]
    var updatedAt: WireTime
    /// The place in listings, kept through updates.
    var sequence: Int = 0
    /// As the service writes it; one that an installation does not limit never expires.
    var expirationTime = Registration.never
    /// The installation that it is a part of.
    var installationID: String?

    var entityTag: String { "W/\"\(version)\"" }

    /// The name of the description's element.
    var elementName: String { format.descriptionPrefix + (isTemplate ? "Template" : "") + "RegistrationDescription" }

    /// The bucket whose sends it is for: template sends reach template registrations of all platforms, and no others.
    var audience: NotificationFormat { isTemplate ? .template : format }

    func field(_ name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.text
    }
}
