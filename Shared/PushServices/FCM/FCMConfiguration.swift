package import Foundations
package import OutgoingHTTP

/// The service account of a project of Firebase, and where its pushes go.
package struct FCMConfiguration: Sendable {
    /// Google's servers.
    package static let defaultEndpoint = "https://fcm.googleapis.com"

    private static let scope = "https://www.googleapis.com/auth/firebase.messaging"

    let grant: AccessTokenGrant
    let origin: PushOrigin
    /// That of the method `projects.messages.send`.
    let path: String

    /// - Parameters:
    ///   - projectID: `project_id` of the service account's file.
    ///   - clientEmail: `client_email`.
    ///   - keyID: `private_key_id`.
    ///   - privateKey: `private_key`, RSA of 2048 bits or more in PEM.
    ///   - tokenEndpoint: where access tokens come from: `token_uri`, or a server that stands in for it.
    ///   - audience: `token_uri`, which assertions are made for; `nil` if it is the token endpoint.
    ///   - endpoint: stands in for Google's servers in tests and behind proxies; a path before `/v1` is allowed.
    /// - Throws: ``SetupError`` that names the member.
    package init(
        projectID: String, clientEmail: String, keyID: String?, privateKey: String, tokenEndpoint: String,
        audience: String? = nil, endpoint: String? = nil
    ) throws(SetupError) {
        let server = try PushDestination(endpoint ?? Self.defaultEndpoint, of: "endpoint")
        guard !server.path.utf8.contains(UInt8(ascii: "?")) else {
            throw SetupError(.invalid, "endpoint is a URL with a query")
        }
        guard !projectID.isEmpty else { throw SetupError(.invalid, "project_id is empty") }
        origin = server.origin
        let folder = server.path.utf8.last == UInt8(ascii: "/") ? String(server.path.dropLast()) : server.path
        path = "\(folder)/v1/projects/\(PercentCoding.encode(projectID))/messages:send"
        grant = .serviceAccount(
            issuer: clientEmail, keyID: keyID, key: try RS256Key(pem: privateKey), scope: Self.scope,
            audience: audience ?? tokenEndpoint, endpoint: try PushDestination(tokenEndpoint, of: "tokenEndpoint"))
    }

    /// The settings of the HTTP client.
    ///
    /// - Parameters:
    ///   - outgoing: proxies and trusted authorities.
    ///   - authorities: the text of the hub's `caFile`.
    package func client(outgoing: OutgoingConfiguration, authorities: String?) -> PushHTTPClientConfiguration {
        var client = PushHTTPClientConfiguration(name: "fcm", outgoing: outgoing, authorities: authorities)
        client.publicHosts = [origin.host, grant.endpoint.origin.host]
        // Google's servers allow about 100 requests in flight on a connection.
        client.connectionsPerOrigin = 8
        // They close connections after a PING. So an idle connection is not reused for long.
        client.pingsAfterIdle = nil
        client.pingsDuringSilence = nil
        client.idleTimeout = .seconds(60)
        return client
    }
}

extension PushDestination {
    /// A URL of the operator's.
    ///
    /// - Throws: ``SetupError`` that names the member and does not repeat the URL.
    init(_ url: String, of member: String) throws(SetupError) {
        do {
            try self.init(url, maxBytes: 1_000)
        } catch {
            throw SetupError(.invalid, "\(member) is \(error)")
        }
    }
}
