import HTTPTypes
import Hummingbird

/// The way into the hub: token, right, hub name.
struct HubGate: Sendable {
    let authorizer: HubAuthorizer
    /// `http` or `https`: how locations begin.
    let scheme: String
    let endpointAuthority: String
    /// The hubs that exist, in lower case; nil when any name is taken.
    let hubNames: Set<String>?

    /// Lets a request in that carries this right.
    func admit(_ request: Request, _ context: EmulatorContext, right: AccessRights) throws(HubError) -> HubCall {
        let authority = request.head.authority
        try authorizer.authorize(
            request.headers[.authorization], authority: authority, path: request.uri.path, right: right)
        let name = PercentDecoding.decodeRepeatedly(context.parameters.get("hub") ?? "")
        guard hubNames?.contains(name.lowercased()) ?? true else { throw HubError.unknownHub }
        return HubCall(
            hub: name, base: "\(scheme)://\(authority ?? endpointAuthority)/\(context.parameters.get("hub") ?? name)",
            query: HubQuery(request.uri.query))
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
    let query: HubQuery

    /// Hub names are compared without regard to case.
    var hubKey: String { hub.lowercased() }

    var apiVersion: String {
        query["api-version"].flatMap { $0.isEmpty ? nil : $0 } ?? Self.newestVersion
    }

    /// The URL of something on the hub, with the version of the request.
    func location(_ path: String, suffix: String = "") -> String {
        "\(base)/\(path)?api-version=\(apiVersion)\(suffix)"
    }
}
