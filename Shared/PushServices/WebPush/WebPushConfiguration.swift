package import Domain
package import Foundations
package import OutgoingHTTP

/// The credentials of Web Push, and the hosts that its pushes may go to.
package struct WebPushConfiguration: Sendable {
    /// The newest key first, then those that were used before.
    let keys: [ES256Key]
    let subject: String
    package let destinations: PushDestinations
    /// The push service that ``WebPushConnector/checkCredentials(deadline:)`` asks.
    package var checkOrigin = PushOrigin(host: "web.push.apple.com")

    /// Each of them costs a request for each device that none of them fits.
    package static let maxPreviousKeys = 4

    /// - Parameters:
    ///   - key: the VAPID key. Browsers subscribe with its public key.
    ///   - previousKeys: VAPID keys that were used before, at most 4: subscriptions are bound to theirs.
    ///   - subject: whom a push service can write to: a `mailto:` or `https:` URI, at most 200 bytes.
    ///   - allowedHosts: push services besides those of the big browsers, see ``PushDestinations``.
    /// - Throws: ``SetupError`` `invalid` that names the member of the credentials file.
    package init(
        key: ES256Key, previousKeys: [ES256Key] = [], subject: String, allowedHosts: [String] = []
    ) throws(SetupError) {
        guard previousKeys.count <= Self.maxPreviousKeys else {
            throw SetupError(.invalid, "previousPrivateKeyFiles has more than \(Self.maxPreviousKeys) entries")
        }
        if let problem = Self.problem(of: subject) { throw SetupError(.invalid, "subject \(problem)") }
        var seen: Set<String> = []
        keys = ([key] + previousKeys).filter { seen.insert($0.id).inserted }
        self.subject = subject
        do {
            destinations = try PushDestinations(services: PushDestinations.browserServices, allowedHosts: allowedHosts)
        } catch {
            throw SetupError(.invalid, "allowedHosts: \(error.message)")
        }
    }

    /// The settings of the HTTP client, which connects only where ``destinations`` permits.
    ///
    /// - Parameters:
    ///   - outgoing: proxies and trusted authorities.
    ///   - authorities: the text of the hub's `caFile`.
    package func client(outgoing: OutgoingConfiguration, authorities: String?) -> PushHTTPClientConfiguration {
        var client = PushHTTPClientConfiguration(name: "webpush")
        client.outgoing = outgoing
        client.authorities = authorities
        client.isAllowed = { [destinations] address, origin in destinations.permits(address, for: origin) }
        client.publicHosts = Set(PushDestinations.browserServices.filter { !$0.hasPrefix("*") })
        return client
    }

    private static let subjectBytes = ByteSet.visible.subtracting(ByteSet("\"\\<>"))

    /// Apple refuses all pushes whose contact is at `localhost`.
    private static func problem(of subject: String) -> String? {
        let scheme = ["mailto:", "https://"].first { subject.utf8.starts(with: $0.utf8) }
        guard let scheme, subject.utf8.count > scheme.utf8.count else {
            return "is not a mailto: or https: URI, such as mailto:push@example.org"
        }
        guard subject.utf8.count <= 200, subjectBytes.containsAll(subject) else {
            return "has more than 200 bytes or characters that a URI does not have"
        }
        let rest = subject.utf8.dropFirst(scheme.utf8.count)
        let place: Substring.UTF8View.SubSequence
        if scheme == "mailto:" {
            guard let at = rest.lastIndex(of: UInt8(ascii: "@")) else { return "is not an e-mail address" }
            place = rest[rest.index(after: at)...]
        } else {
            place = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") }
        }
        let host = String(Substring(place)).lowercased()
        return host == "localhost" || host.isEmpty || host.hasSuffix(".localhost")
            ? "names localhost, which push services refuse" : nil
    }
}
