/// The authorisation rules of a hub's description.
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
                throw HubError.badRequest("An authorization rule has a right that is not known.")
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
    static func element(_ rules: [SharedAccessRule], at time: WireTime) -> XMLElement {
        XMLElement(
            "AuthorizationRules", namespace: XMLNamespace.connect,
            content: rules.map { .element($0.element(at: time)) })
    }

    private func element(at time: WireTime) -> XMLElement {
        let granted = Self.rightNames.filter { rights.contains($0.right) }
        var children = [
            HubDescription.element("ClaimType", "SharedAccessKey"), HubDescription.element("ClaimValue", "None"),
            XMLElement(
                "Rights", namespace: XMLNamespace.connect,
                content: granted.map { .element(HubDescription.element("AccessRights", $0.name)) }),
            HubDescription.element("CreatedTime", time.rfc3339), HubDescription.element("ModifiedTime", time.rfc3339),
            HubDescription.element("KeyName", name), HubDescription.element("PrimaryKey", primaryKey),
        ]
        if let secondaryKey { children.append(HubDescription.element("SecondaryKey", secondaryKey)) }
        return XMLElement(
            "AuthorizationRule", namespace: XMLNamespace.connect,
            attributes: [
                XMLElement.Attribute(
                    namespace: XMLNamespace.instance, name: "type", value: "SharedAccessAuthorizationRule")
            ], content: children.map { .element($0) })
    }
}
