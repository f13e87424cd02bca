import HTTPTypes
import Hummingbird

/// The way into the hub: token, right, hub name.
struct HubGate: Sendable {
    /// Checks tokens under the rules of the namespace.
    let authorizer: HubAuthorizer
    /// `http` or `https`: how locations begin.
    let scheme: String
    let endpointAuthority: String
    let hubs: HubDirectory

    /// Lets a request in that carries one of these rights, under a rule of the namespace or of the hub.
    func admit(_ request: Request, _ context: EmulatorContext, right: AccessRights) throws(HubError) -> HubCall {
        try admit(HubRequestCredentials(request, context), right: right)
    }

    /// The same for a request that came by another way than the routes.
    func admit(_ knock: HubRequestCredentials, right: AccessRights) throws(HubError) -> HubCall {
        let (call, exists) = try authorize(knock, right: right)
        guard exists else { throw HubError.unknownHub }
        return call
    }

    /// Lets a request in that is about the hub itself, which need not exist.
    func admitToManage(_ request: Request, _ context: EmulatorContext) throws(HubError) -> HubCall {
        try authorize(HubRequestCredentials(request, context), right: .manage).call
    }

    private func authorize(
        _ knock: HubRequestCredentials, right: AccessRights
    ) throws(HubError) -> (call: HubCall, exists: Bool) {
        let name = PercentDecoding.decodeRepeatedly(knock.hub)
        let entrance = hubs.entrance(name.lowercased())
        try authorizer.authorize(
            knock.authorization, authority: knock.authority, path: knock.path, right: right,
            hubAuthorizer: entrance.authorizer)
        let base = "\(scheme)://\(knock.authority ?? endpointAuthority)" + (knock.hub.isEmpty ? "" : "/\(knock.hub)")
        return (HubCall(hub: name, base: base, rawQuery: knock.query), entrance.exists)
    }
}

/// One admitted request.
struct HubCall: Sendable {
    /// The version that a client without one is answered in: the newest.
    static let newestVersion = "2020-06"

    /// The hub's name as written in the request.
    let hub: String
    /// The hub's URL as the client wrote it, without a trailing slash.
    let base: String
    /// As it came.
    let rawQuery: String?
    let query: HubQuery

    init(hub: String, base: String, rawQuery: String?) {
        self.hub = hub
        self.base = base
        self.rawQuery = rawQuery
        query = HubQuery(rawQuery)
    }

    /// The namespace's URL as the client wrote it, without a trailing slash.
    var origin: String {
        guard let scheme = base.firstRange(of: "://") else { return base }
        return String(base[..<(base[scheme.upperBound...].firstIndex(of: "/") ?? base.endIndex)])
    }

    /// The namespace's name: the first part of the host.
    var namespaceName: String {
        let url = base.firstRange(of: "://").map { base[$0.upperBound...] } ?? base[...]
        return String(url.prefix { $0 != "." && $0 != "/" && $0 != ":" })
    }

    /// Hub names are compared without regard to case.
    var hubKey: String { hub.lowercased() }

    var apiVersion: String {
        query["api-version"].flatMap { $0.isEmpty ? nil : $0 } ?? Self.newestVersion
    }

    /// The URL of something on the hub, with the version of the request.
    func location(_ path: String, suffix: String = "") -> String {
        "\(base)\(path.isEmpty ? "" : "/")\(path)?api-version=\(apiVersion)\(suffix)"
    }

    /// The URL of something on the hub with the whole query of the request, as documents have it.
    func requestLocation(_ path: String) -> String {
        guard let rawQuery, !rawQuery.isEmpty else { return location(path) }
        return "\(base)\(path.isEmpty ? "" : "/")\(path)?\(rawQuery)"
    }
}
