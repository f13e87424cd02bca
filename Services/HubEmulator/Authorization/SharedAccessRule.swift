/// What the bearer of a rule's key may do on a hub.
struct AccessRights: OptionSet, Sendable {
    let rawValue: UInt8

    /// Work on single registrations and on those of one handle; what device SDKs hold.
    static let listen = AccessRights(rawValue: 1)
    /// Send notifications.
    static let send = AccessRights(rawValue: 2)
    /// List registrations by tag, and all of them.
    static let manage = AccessRights(rawValue: 4)

    static let full: AccessRights = [.listen, .send, .manage]
}

/// An authorisation rule: a name, one or two keys that are both good (so that one can be rotated), and rights.
struct SharedAccessRule: Sendable {
    static let defaultFullName = "DefaultFullSharedAccessSignature"
    static let defaultListenName = "DefaultListenSharedAccessSignature"

    let name: String
    /// The key's text. Signing uses its UTF-8 bytes; the service never decodes it as base64.
    let primaryKey: String
    let secondaryKey: String?
    let rights: AccessRights

    init(name: String, primaryKey: String, secondaryKey: String? = nil, rights: AccessRights) {
        self.name = name
        self.primaryKey = primaryKey
        self.secondaryKey = secondaryKey
        self.rights = rights
    }

    var keys: [String] { [primaryKey] + (secondaryKey.map { [$0] } ?? []) }
}
