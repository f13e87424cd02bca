import Authentication
import Foundations
import Logging
import ServiceConfiguration
import ServiceRuntime

struct AdminConfiguration: Sendable {
    /// The address, TLS files and limits of its listener.
    var http: HTTPConfiguration
    /// The file with the operator's password; `nil` on loopback only.
    var passwordFile: String?
    /// Further host names under which the page answers.
    var allowedHosts: [String]
    /// The dispatchers whose metrics the page shows.
    var dispatchers: [MetricsTarget]
    /// The retrieval services whose metrics the page shows.
    var retrievals: [MetricsTarget]

    /// Connections and requests of operators: a few people and their tools. One address cannot take all connections.
    private static let maxConnections = 256
    private static let maxConnectionsPerAddress = 64
    private static let maxInFlight = 32
}

extension AdminConfiguration {
    /// Checks the settings; the reader gets what is wrong with them.
    ///
    /// - Parameter api: the settings of the API's listener, whose TLS files and deadlines the page shares.
    /// - Returns: `nil` if there is no `ADMIN_PORT`, or if a value cannot be used.
    init?(_ settings: AdminSettings, _ reader: inout ConfigurationReader, api: HTTPConfiguration?) {
        let host = HTTPConfiguration.plainHost(settings.host)
        if settings.allowedHosts.contains(where: { $0.contains("/") || $0.contains("*") }) {
            reader.note(\.adminAllowedHosts, "must be a list of host names without scheme, path or *")
        }
        dispatchers = Self.targets(settings.dispatchers, \.dispatcherURL, &reader)
        retrievals = Self.targets(settings.retrievals, \.retrievalURL, &reader)
        guard let port = settings.port, let api else { return nil }
        if port != 0, port == api.port, host == api.host {
            reader.note(\.adminPort, "is the port of the API: choose another one")
        }
        if !InsecureLink.isLoopback(host) {
            if !reader.isSet(\.adminPasswordFile) {
                reader.note(\.adminPasswordFile, "is needed, since ADMIN_HOST is beyond loopback")
            }
            if api.tls == nil {
                reader.refuse(
                    ["listens on \(host)"], of: \.adminHost, as: .http,
                    remedy: "set TLS_CERTIFICATE_FILE and TLS_PRIVATE_KEY_FILE")
            }
        }
        http = HTTPConfiguration(host: host, port: port, tls: api.tls)
        http.limits = api.limits
        http.limits.maxConnections = Self.maxConnections
        http.limits.maxConnectionsPerAddress = Self.maxConnectionsPerAddress
        http.limits.maxInFlight = Self.maxInFlight
        (passwordFile, allowedHosts) = (settings.passwordFile, settings.allowedHosts)
    }

    /// Reads the file of the operator's password; `nil` without one.
    ///
    /// - Throws: ``ConfigurationError`` if the file cannot be used.
    func authenticator(_ logger: Logger) throws -> OperatorAuthenticator? {
        try passwordFile.map { path in
            try ConfigurationKeys.adminPasswordFile.making {
                try OperatorAuthenticator(passwordFile: path, logger: logger)
            }
        }
    }

    private static func targets(
        _ texts: [String], _ key: KeyPath<ConfigurationKeys, ConfigurationKey<[String]?>>,
        _ reader: inout ConfigurationReader
    ) -> [MetricsTarget] {
        texts.compactMap { text in
            if let target = MetricsTarget(text) { return target }
            // A URL may hold a password, so the text is not repeated.
            reader.note(key, "has an item that is not http:// or https://, a host, and nothing after the port")
            return nil
        }
    }
}

/// The base URL of a service whose metrics are polled.
struct MetricsTarget: Sendable, Hashable {
    let isSecure: Bool
    /// A name or an address; IPv6 without brackets.
    let host: String
    let port: Int

    /// - Returns: `nil` for anything but `http://HOST:PORT` or `https://HOST:PORT`, the port being optional.
    init?(_ text: String) {
        guard let endpoint = try? Endpoint(text, schemes: ["http", "https"]) else { return nil }
        isSecure = endpoint.scheme == "https"
        host = endpoint.host
        port = endpoint.port ?? (isSecure ? 443 : 80)
    }
}
