import Crypto
import Foundation
import Foundations

/// The rights that a rule's key grants on a hub.
struct AccessRights: OptionSet, Sendable {
    let rawValue: UInt8

    /// Access to single registrations and to those of one handle; device SDKs have this right.
    static let listen = AccessRights(rawValue: 1)
    /// Sending of notifications.
    static let send = AccessRights(rawValue: 2)
    /// Lists of registrations, hubs and jobs.
    static let manage = AccessRights(rawValue: 4)

    static let full: AccessRights = [.listen, .send, .manage]
}

/// An authorisation rule: a name, rights, and one or two keys, which are both valid so that one can be rotated.
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

// MARK: Configuration

extension SharedAccessRule {
    /// Reads `NAME:Listen+Send:KEY` or `NAME:Listen+Send:KEY:SECONDARYKEY`; nil when a part is missing or empty, or a
    /// right is unknown.
    init?(setting: String) {
        let parts = setting.split(separator: ":", omittingEmptySubsequences: false)
        guard (3...4).contains(parts.count), parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        var rights: AccessRights = []
        for name in parts[1].split(separator: "+", omittingEmptySubsequences: false) {
            guard let known = Self.rightNames.first(where: { $0.name.lowercased() == name.lowercased() }) else {
                return nil
            }
            rights.insert(known.right)
        }
        self.init(
            name: String(parts[0]), primaryKey: String(parts[2]),
            secondaryKey: parts.count == 4 ? String(parts[3]) : nil, rights: rights)
    }
}

// MARK: Hub descriptions

extension SharedAccessRule {
    /// The service's limit.
    private static let maximumRules = 12
    /// The service's limit for names and keys, in characters.
    private static let maximumLength = 256
    private static let rightNames: [(name: String, right: AccessRights)] = [
        ("Listen", .listen), ("Manage", .manage), ("Send", .send),
    ]

    /// Reads `AuthorizationRules`.
    ///
    /// - Throws: 400.
    static func list(_ element: XMLElement?) throws(HubError) -> [SharedAccessRule] {
        var rules: [SharedAccessRule] = []
        for child in element?.children ?? [] where child.name == "AuthorizationRule" {
            let rule = try SharedAccessRule(child)
            guard !rules.contains(where: { $0.name == rule.name }) else {
                throw HubError.badRequest("Two authorization rules have the same KeyName.")
            }
            rules.append(rule)
        }
        guard rules.count <= maximumRules else {
            throw HubError.badRequest("A hub has at most \(maximumRules) authorization rules.")
        }
        return rules
    }

    private init(_ element: XMLElement) throws(HubError) {
        guard let name = element.child("KeyName")?.text, let key = element.child("PrimaryKey")?.text,
            (1...Self.maximumLength).contains(name.count), (1...Self.maximumLength).contains(key.count)
        else { throw HubError.badRequest("An authorization rule lacks its KeyName or PrimaryKey.") }
        var rights: AccessRights = []
        for right in element.child("Rights")?.children ?? [] {
            guard let known = Self.rightNames.first(where: { $0.name == right.text }) else {
                throw HubError.badRequest("An authorization rule has an unknown right.")
            }
            rights.insert(known.right)
        }
        guard !rights.isEmpty else { throw HubError.badRequest("An authorization rule has no right.") }
        let second = element.child("SecondaryKey")?.text ?? ""
        self.init(name: name, primaryKey: key, secondaryKey: second.isEmpty ? nil : second, rights: rights)
    }

    /// Recorded: the two rules of a new hub, each with two random keys.
    static func makeDefaults() -> [SharedAccessRule] {
        [(defaultListenName, AccessRights.listen), (defaultFullName, .full)].map { name, rights in
            SharedAccessRule(
                name: name, primaryKey: HubConnectionString.makeKey(), secondaryKey: HubConnectionString.makeKey(),
                rights: rights)
        }
    }

    /// Writes `AuthorizationRules`, elements in the recorded order.
    static func element(_ rules: [SharedAccessRule], at time: Timestamp) -> XMLElement {
        XMLElement(
            "AuthorizationRules", namespace: XMLNamespace.connect, children: rules.map { $0.element(at: time) })
    }

    private func element(at time: Timestamp) -> XMLElement {
        let granted = Self.rightNames.filter { rights.contains($0.right) }
        var children = [
            HubDescription.element("ClaimType", "SharedAccessKey"), HubDescription.element("ClaimValue", "None"),
            XMLElement(
                "Rights", namespace: XMLNamespace.connect,
                children: granted.map { HubDescription.element("AccessRights", $0.name) }),
            HubDescription.element("CreatedTime", time.description),
            HubDescription.element("ModifiedTime", time.description),
            HubDescription.element("KeyName", name), HubDescription.element("PrimaryKey", primaryKey),
        ]
        if let secondaryKey { children.append(HubDescription.element("SecondaryKey", secondaryKey)) }
        return XMLElement(
            "AuthorizationRule", namespace: XMLNamespace.connect,
            attributes: [
                XMLElement.Attribute(
                    namespace: XMLNamespace.instance, name: "type", value: "SharedAccessAuthorizationRule")
            ], children: children)
    }
}

/// `Endpoint=…;SharedAccessKeyName=…;SharedAccessKey=…`, the form of the hub's portal page.
struct HubConnectionString: Equatable, Sendable {
    /// With a trailing slash, which clients need that append the hub's name.
    let endpoint: String
    let keyName: String
    let key: String

    init(endpoint: String, keyName: String, key: String) {
        self.endpoint = endpoint.hasSuffix("/") ? endpoint : endpoint + "/"
        self.keyName = keyName
        self.key = key
    }

    /// Reads a connection string; names in any case and order. Nil when a part is missing, repeated or unknown.
    init?(_ text: String) {
        var parts: [String: String] = [:]
        for part in text.split(separator: ";") {
            guard let equals = part.firstIndex(of: "=") else { return nil }
            let name = part[..<equals].trimmingCharacters(in: .whitespaces).lowercased()
            let value = part[part.index(after: equals)...].trimmingCharacters(in: .whitespaces)
            guard !value.isEmpty, parts.updateValue(value, forKey: name) == nil else { return nil }
        }
        guard let endpoint = parts.removeValue(forKey: "endpoint"), endpoint.contains("://"),
            let keyName = parts.removeValue(forKey: "sharedaccesskeyname"),
            let key = parts.removeValue(forKey: "sharedaccesskey"), parts.isEmpty
        else { return nil }
        self.init(endpoint: endpoint, keyName: keyName, key: key)
    }

    /// The form that clients read.
    var text: String { "Endpoint=\(endpoint);SharedAccessKeyName=\(keyName);SharedAccessKey=\(key)" }

    /// A new random key: base64 of 32 bytes, as the service makes them.
    static func makeKey() -> String {
        SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
    }

    /// The Listen rule's key when none is configured. It is derived, so a fixed connection string gives a fixed key.
    var derivedListenKey: String {
        let key = SymmetricKey(data: Array(key.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Array(SharedAccessRule.defaultListenName.utf8), using: key)
        return Data(code).base64EncodedString()
    }
}
