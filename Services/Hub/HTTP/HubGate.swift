import Foundation
import Foundations
import HTTPTypes
import Hummingbird
import ServiceRuntime

/// Knows whether a hub exists, and checks tokens for it.
struct HubEntrance: Sendable {
    var exists: Bool
    /// Checks tokens under the rules of every hub.
    var forAll: HubAuthorizer
    /// Checks tokens under the hub's own rules.
    var own: HubAuthorizer?
}

/// Admits requests to the hubs: checks token, right and hub name.
struct HubGate: Sendable {
    /// The scheme of locations: `http` or `https`.
    private let scheme: String
    /// The host and port of locations when a request has no `Host`.
    private let endpointAuthority: String
    private let entrance: @Sendable (_ hubKey: String) -> HubEntrance

    /// - Parameter entrance: called with the hub's name in lower case; with an empty one for the namespace.
    init(
        scheme: String, endpointAuthority: String, entrance: @escaping @Sendable (_ hubKey: String) -> HubEntrance
    ) {
        self.scheme = scheme
        self.endpointAuthority = endpointAuthority
        self.entrance = entrance
    }

    /// The gate of `hub-emulator`: rules of the settings for every hub, and those of the hubs' descriptions.
    init(_ configuration: EmulatorConfiguration, hubs: HubDirectory) {
        let endpoint = configuration.connectionString.endpoint
        let audience = TokenAudience(url: endpoint)
        let authorizer = HubAuthorizer(rules: configuration.rules, endpointHost: audience.host)
        let authority = URL(string: endpoint).flatMap { url in
            url.host().map { host in url.port.map { "\(host):\($0)" } ?? host }
        }
        self.init(scheme: configuration.locationScheme, endpointAuthority: authority ?? audience.host) { hubKey in
            let (exists, own) = hubs.entrance(hubKey)
            return HubEntrance(exists: exists, forAll: authorizer, own: own)
        }
    }

    /// The gate of `hub`: the rules of its file.
    init(_ configuration: HubServiceConfiguration, access: HubAccessFile) {
        self.init(
            scheme: configuration.http.tls == nil ? "http" : "https",
            endpointAuthority: "\(configuration.http.host):\(configuration.http.port)"
        ) { hubKey in
            let access = access.current
            let own = access[hubKey]
            return HubEntrance(exists: own != nil, forAll: access.forAll, own: own)
        }
    }

    /// Admits a request to an existing hub.
    ///
    /// - Parameter right: one of these rights is enough, under a rule of the namespace or of the hub.
    /// - Throws: 401, 403 or 404.
    func admit(_ request: Request, _ context: EmulatorContext, right: AccessRights) throws(HubError) -> HubCall {
        let (call, exists) = try authorize(request, context, right: right)
        guard exists else { throw HubError.unknownHub }
        return call
    }

    /// Admits a request about a hub itself, which need not exist.
    ///
    /// - Throws: 401 or 403.
    func admitToManage(_ request: Request, _ context: EmulatorContext) throws(HubError) -> HubCall {
        try authorize(request, context, right: .manage).call
    }

    private func authorize(
        _ request: Request, _ context: EmulatorContext, right: AccessRights
    ) throws(HubError) -> (call: HubCall, exists: Bool) {
        let (call, entrance) = place(request, context)
        try entrance.forAll.authorize(
            request.headers[.authorization], authority: request.head.authority, path: request.uri.path, right: right,
            hubAuthorizer: entrance.own)
        return (call, entrance.exists)
    }

    private func place(_ request: Request, _ context: EmulatorContext) -> (call: HubCall, entrance: HubEntrance) {
        // Empty for requests about the namespace.
        let written = context.parameters.get("hub") ?? ""
        let name = PercentCoding.decodeRepeatedly(written)
        let base =
            "\(scheme)://\(request.head.authority ?? endpointAuthority)" + (written.isEmpty ? "" : "/\(written)")
        return (HubCall(hub: name, base: base, rawQuery: request.uri.query), entrance(name.lowercased()))
    }
}

extension HubGate {
    /// Admits a request for the URL of a hub's feedback, and gives access for the URL.
    ///
    /// - Throws: 401, 403 or 404.
    func admitToLocateFeedback(
        _ request: Request, _ context: EmulatorContext
    ) throws(HubError) -> (call: HubCall, access: FeedbackAccess) {
        let call = try admit(request, context, right: .manage)
        let (_, entrance) = place(request, context)
        let authorization = request.headers[.authorization]
        for authorizer in [entrance.forAll, entrance.own] {
            if let access = try authorizer?.feedbackAccess(for: authorization, hubKey: call.hubKey) {
                return (call, access)
            }
        }
        // The rule was removed in between.
        throw HubError.unauthorized(.invalidSignature)
    }

    /// Admits a request to the feedback with access in its query, or with a token.
    ///
    /// - Throws: 401, 403 or 404.
    func admitToFeedback(_ request: Request, _ context: EmulatorContext) throws(HubError) -> HubCall {
        let (call, entrance) = place(request, context)
        guard let access = FeedbackAccess(call.query) else { return try admit(request, context, right: .manage) }
        guard !access.isExpired(at: .now) else { throw HubError.unauthorized(.expiredToken) }
        guard [entrance.forAll, entrance.own].contains(where: { $0?.grants(access, hubKey: call.hubKey) == true })
        else { throw HubError.unauthorized(.invalidSignature) }
        guard entrance.exists else { throw HubError.unknownHub }
        return call
    }
}

/// One admitted request.
struct HubCall: Sendable {
    /// The API version of requests that name none: the newest.
    private static let newestVersion = "2020-06"

    /// The hub's name as written in the request.
    let hub: String
    /// The hub's URL as the client wrote it, without a trailing slash.
    let base: String
    /// The query as received.
    let rawQuery: String?
    let query: HubQuery

    init(hub: String, base: String, rawQuery: String?) {
        self.hub = hub
        self.base = base
        self.rawQuery = rawQuery
        query = HubQuery(rawQuery)
    }

    /// The namespace's name: the first part of the host.
    var namespaceName: String {
        let url = base.firstRange(of: "://").map { base[$0.upperBound...] } ?? base[...]
        return String(url.prefix { $0 != "." && $0 != "/" && $0 != ":" })
    }

    /// The hub's name in lower case: hub names are compared without regard to case.
    var hubKey: String { hub.lowercased() }

    private var apiVersion: String {
        query["api-version"].flatMap { $0.isEmpty ? nil : $0 } ?? Self.newestVersion
    }

    /// The URL of a resource of the hub, with the API version of the request.
    func location(_ path: String, suffix: String = "") -> String {
        "\(base)\(path.isEmpty ? "" : "/")\(path)?api-version=\(apiVersion)\(suffix)"
    }

    /// The URL of a resource of the hub with the whole query of the request, as documents contain it.
    func requestLocation(_ path: String) -> String {
        guard let rawQuery, !rawQuery.isEmpty else { return location(path) }
        return "\(base)\(path.isEmpty ? "" : "/")\(path)?\(rawQuery)"
    }

    /// The URL of a list's next page. Recorded: the names and the token, which is encoded already, are encoded.
    func nextLocation(_ path: String, token: String) -> String {
        let query = self.query.except("continuationtoken") + [("continuationtoken", token)]
        let text = query.map { "\(PercentCoding.encode($0.name))=\(PercentCoding.encode($0.value))" }
        return "\(base)/\(path)?\(text.joined(separator: "&"))"
    }
}

/// The query of a request to the hub: names in any case, plain or escaped (`%24top`).
struct HubQuery: Sendable {
    /// The names are in lower case; the first of several values with one name counts.
    private let values: [(name: String, value: String)]

    init(_ query: String?) {
        values = (query ?? "").utf8.split(separator: UInt8(ascii: "&")).map { part in
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            let name = PercentCoding.decodeLeniently(Substring(part[..<equals]), plusIsBlank: true)
            let value = PercentCoding.decodeLeniently(Substring(part[equals...].dropFirst()), plusIsBlank: true)
            return (name.lowercased(), value)
        }
    }

    /// All parameters but one, with names in lower case.
    func except(_ name: String) -> [(name: String, value: String)] { values.filter { $0.name != name } }

    /// The value of a parameter by its lower-case name; empty when it has no `=`.
    subscript(_ name: String) -> String? { values.first { $0.name == name }?.value }

    /// Whether a switch such as `direct` is on: present, and its value is not `false`.
    func isOn(_ name: String) -> Bool {
        self[name].map { $0.lowercased() != "false" } ?? false
    }
}
