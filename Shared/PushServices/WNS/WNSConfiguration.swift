package import Foundations
package import OutgoingHTTP

/// The credentials of an app of Windows, and the hosts that its pushes may go to.
package struct WNSConfiguration: Sendable {
    /// Who asks for access tokens. A channel of one of the two takes no token of the other.
    package enum Identity: Sendable, Hashable {
        /// An application of Microsoft Entra ID, for apps with the Windows App SDK.
        case entra(tenant: String, clientID: String)
        /// A package of Partner Center, `ms-app://…`, with the older token service.
        case package(sid: String)
    }

    let grant: AccessTokenGrant
    package let destinations: PushDestinations
    /// The server that ``WNSConnector/checkCredentials(deadline:)`` asks, one of those that give channels.
    package var checkOrigin = PushOrigin(host: "db5p.notify.windows.com")

    /// The longest channel, in bytes. They have about 250.
    private static let maxChannel = 2_048

    /// - Parameters:
    ///   - tokenEndpoint: stands in for Microsoft's token service in tests and behind proxies.
    ///   - allowedHosts: hosts of channels besides those below `notify.windows.com`, see ``PushDestinations``.
    /// - Throws: ``SetupError`` `invalid` that names the member of the credentials file.
    package init(
        identity: Identity, clientSecret: String, tokenEndpoint: String? = nil, allowedHosts: [String] = []
    ) throws(SetupError) {
        let (id, scope, service): (String, String, String)
        switch identity {
        case .entra(let tenant, let clientID):
            guard !tenant.isEmpty, ByteSet.unreserved.containsAll(tenant) else {
                throw SetupError(.invalid, "tenant is neither the ID nor the name of a tenant")
            }
            (id, scope) = (clientID, "https://wns.windows.com/.default")
            service = "https://login.microsoftonline.com/\(tenant)/oauth2/v2.0/token"
        case .package(let sid):
            (id, scope) = (sid, "notify.windows.com")
            service = "https://login.live.com/accesstoken.srf"
        }
        grant = .clientSecret(
            id: id, secret: clientSecret, scope: scope,
            endpoint: try PushDestination(tokenEndpoint ?? service, of: "tokenEndpoint"))
        do {
            destinations = try PushDestinations(
                services: PushDestinations.windowsServices, allowedHosts: allowedHosts, maxBytes: Self.maxChannel)
        } catch {
            throw SetupError(.invalid, "allowedHosts: \(error.message)")
        }
    }

    /// The settings of the HTTP client, which connects only to the token service and where ``destinations`` permits.
    ///
    /// - Parameters:
    ///   - outgoing: proxies and trusted authorities.
    ///   - authorities: the text of the hub's `caFile`.
    package func client(outgoing: OutgoingConfiguration, authorities: String?) -> PushHTTPClientConfiguration {
        var client = PushHTTPClientConfiguration(name: "wns", outgoing: outgoing, authorities: authorities)
        // WNS has no HTTP/2: a connection has one push in flight.
        client.versions = .http1
        client.connectionsPerOrigin = 32
        // Load balancers of Azure forget a connection without traffic after 4 minutes, and do not tell its ends. There
        // is no PING in HTTP/1.1, so that the next push would wait in vain.
        client.idleTimeout = .seconds(120)
        client.isAllowed = { [destinations, service = grant.endpoint.origin] address, origin in
            origin == service || destinations.permits(address, for: origin)
        }
        client.publicHosts = [grant.endpoint.origin.host]
        return client
    }
}
