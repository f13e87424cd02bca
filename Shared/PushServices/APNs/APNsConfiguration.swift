package import Domain
package import Foundations
package import OutgoingHTTP

/// The credentials of APNs: a signing key of a team, and the app that it pushes to.
package struct APNsConfiguration: Sendable {
    /// Debug builds get tokens of the sandbox, builds of TestFlight and the App Store those of production.
    package enum Environment: String, CaseIterable, Sendable { case production, sandbox }

    let key: ES256Key
    let keyID: String
    let teamID: String
    let topic: String
    package let origin: PushOrigin

    /// The maximum of a topic, in bytes. Bundle IDs have at most 155.
    static let maxTopic = 255

    /// - Parameters:
    ///   - key: of the file that Apple gives (`.p8`).
    ///   - keyID: 10 letters and digits.
    ///   - teamID: 10 letters and digits.
    ///   - topic: the app's bundle ID.
    ///   - endpoint: an `https:` URL without a path, in place of Apple's servers. Port 2197 is Apple's too.
    /// - Throws: ``SetupError`` `invalid` that names the member of the credentials file.
    package init(
        key: ES256Key, keyID: String, teamID: String, topic: String, environment: Environment = .production,
        endpoint: String? = nil
    ) throws(SetupError) {
        for (name, text) in [("keyId", keyID), ("teamId", teamID)]
        where text.utf8.count != 10 || !ByteSet.alphanumerics.containsAll(text) {
            throw SetupError(.invalid, "\(name) is not 10 letters and digits")
        }
        guard Self.isTopic(topic) else { throw SetupError(.invalid, "topic is not the bundle ID of an app") }
        (self.key, self.keyID, self.teamID, self.topic) = (key, keyID, teamID, topic)
        guard let endpoint else {
            origin = PushOrigin(
                host: environment == .production ? "api.push.apple.com" : "api.sandbox.push.apple.com")
            return
        }
        guard let place = try? Endpoint(endpoint, schemes: ["https"]) else {
            throw SetupError(.invalid, "endpoint is not an https: URL without a path")
        }
        origin = PushOrigin(host: place.host, port: place.port ?? 443)
    }

    private static let topicBytes = ByteSet.alphanumerics.union(ByteSet("-."))

    static func isTopic(_ text: String) -> Bool {
        (1...maxTopic).contains(text.utf8.count) && topicBytes.containsAll(text)
    }

    /// The settings of the HTTP client.
    ///
    /// - Parameters:
    ///   - outgoing: proxies and trusted authorities.
    ///   - authorities: the text of the hub's `caFile`.
    package func client(outgoing: OutgoingConfiguration, authorities: String?) -> PushHTTPClientConfiguration {
        var client = PushHTTPClientConfiguration(name: "apns", outgoing: outgoing, authorities: authorities)
        client.versions = .http2
        client.publicHosts = [origin.host]
        client.sendsFirstRequestAlone = true
        client.endsConnection = { APNsAnswer.endsConnection($0) }
        // Apple treats connections that open and close quickly as an attack. A PING before the next push tests an idle
        // connection.
        client.idleTimeout = .seconds(86_400)
        return client
    }
}
