import Foundations

/// A hub's description, `NotificationHubDescription`. Only its rules are interpreted.
struct HubDescription: Sendable {
    /// Recorded: the value of a hub without one, which means never.
    private static let defaultRegistrationTtl = "P10675199DT2H48M5.4775807S"
    static let elementName = "NotificationHubDescription"

    /// The elements, in the order in which the .NET client reads them.
    private(set) var fields: [XMLElement]
    private(set) var rules: [SharedAccessRule]
    let createdAt: Timestamp
    let updatedAt: Timestamp
    /// Whether a client wrote it; false for a hub that was created by use.
    let isGiven: Bool

    /// The description of a hub that was created by use, without rules of its own.
    init(at time: Timestamp = .now) {
        fields = [Self.element("RegistrationTtl", Self.defaultRegistrationTtl)]
        rules = []
        createdAt = time
        updatedAt = time
        isGiven = false
    }

    /// Reads the Atom entry of a PUT.
    ///
    /// - Throws: 400 with the reason.
    init(entry bytes: [UInt8], at time: Timestamp = .now) throws(HubError) {
        guard let description = try AtomEntry.content(of: bytes)?.child(Self.elementName) else {
            throw HubError.badRequest("The body is not an Atom entry with a NotificationHubDescription.")
        }
        fields = Self.inOrder(description.children.filter { !$0.isNil })
        rules = try SharedAccessRule.list(description.child("AuthorizationRules"))
        createdAt = time
        updatedAt = time
        isGiven = true
    }

    private init(fields: [XMLElement], rules: [SharedAccessRule], createdAt: Timestamp, updatedAt: Timestamp) {
        self.fields = Self.inOrder(fields)
        self.rules = rules
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        isGiven = true
    }

    /// The description with the members that the service adds: the former or two new rules, and the time to live.
    func completed(from former: HubDescription?) -> HubDescription {
        var fields = fields
        if !fields.contains(where: { $0.name == "RegistrationTtl" }) {
            let kept = former?.fields.first { $0.name == "RegistrationTtl" }
            fields.append(kept ?? Self.element("RegistrationTtl", Self.defaultRegistrationTtl))
        }
        var rules = rules
        if !fields.contains(where: { $0.name == "AuthorizationRules" && !$0.children.isEmpty }) {
            fields.removeAll { $0.name == "AuthorizationRules" }
            if let former, let kept = former.fields.first(where: { $0.name == "AuthorizationRules" }) {
                fields.append(kept)
                rules = former.rules
            } else {
                rules = SharedAccessRule.makeDefaults()
                fields.append(SharedAccessRule.element(rules, at: updatedAt))
            }
        }
        return HubDescription(
            fields: fields, rules: rules, createdAt: former?.createdAt ?? createdAt, updatedAt: updatedAt)
    }

    func makeAuthorizer(endpointHost: String) -> HubAuthorizer? {
        rules.isEmpty ? nil : HubAuthorizer(rules: rules, endpointHost: endpointHost)
    }

    static func element(_ name: String, _ text: String) -> XMLElement {
        XMLElement(name, namespace: XMLNamespace.connect, text: text)
    }

    /// The elements in the order of the .NET client, which reads by position. Unknown ones come last.
    private static func inOrder(_ fields: [XMLElement]) -> [XMLElement] {
        let order = [
            "ApnsCredential", "RegistrationTtl", "WnsCredential", "AuthorizationRules", "GcmCredential",
            "MpnsCredential", "DailyOperations", "DailyMaxActiveDevices", "DailyMaxActiveRegistrations", "UserMetadata",
            "DailyPushes",
            "DailyApiCalls", "AdmCredential", "Status", "BaiduCredential", "FcmV1Credential", "BrowserCredential",
        ]
        return order.flatMap { name in fields.filter { $0.name == name } } + fields.filter { !order.contains($0.name) }
    }
}
