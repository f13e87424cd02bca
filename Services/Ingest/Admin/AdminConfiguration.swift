import Authentication
import Logging
import SecurePushCore
import ServiceConfiguration
import ServiceRuntime

/// The settings of the operator's page.
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

    /// Reads the settings; the reader holds what is wrong with them.
    ///
    /// - Parameter api: the settings of the API's listener, whose TLS files and deadlines the page shares.
    /// - Returns: `nil` if there is no `ADMIN_PORT`, or if a value cannot be used.
    static func read(_ reader: inout ConfigurationReader, api: HTTPConfiguration?) -> AdminConfiguration? {
        let port = reader.read(ConfigurationKeys.adminPort)
        let host = reader.read(ConfigurationKeys.adminHost).map(HTTPConfiguration.plainHost)
        let passwordFile = reader.read(ConfigurationKeys.adminPasswordFile)
        let allowedHosts = reader.read(ConfigurationKeys.adminAllowedHosts) ?? []
        if allowedHosts.contains(where: { $0.contains("/") || $0.contains("*") }) {
            reader.note(
                ConfigurationKeys.adminAllowedHosts.name, "must be a list of host names without scheme, path or *")
        }
        let dispatchers = targets(ConfigurationKeys.dispatcherURL, &reader)
        let retrievals = targets(ConfigurationKeys.retrievalURL, &reader)
        guard let port, let host, let api else { return nil }
        if port != 0, port == api.port, host == api.host {
            reader.note(ConfigurationKeys.adminPort.name, "is the port of the API: choose another one")
        }
        if !InsecureLink.isLoopback(host) {
            if !reader.isSet(ConfigurationKeys.adminPasswordFile) {
                reader.note(
                    ConfigurationKeys.adminPasswordFile.name,
                    "is needed, since \(ConfigurationKeys.adminHost.name) is beyond loopback")
            }
            if api.tls == nil {
                reader.refuse(
                    ["listens on \(host)"], of: ConfigurationKeys.adminHost.name, as: .http,
                    remedy: "set TLS_CERTIFICATE_FILE and TLS_PRIVATE_KEY_FILE")
            }
        }
        var http = HTTPConfiguration(host: host, port: port, tls: api.tls)
        http.limits = api.limits
        http.limits.maxConnections = maxConnections
        http.limits.maxConnectionsPerAddress = maxConnectionsPerAddress
        http.limits.maxInFlight = maxInFlight
        return AdminConfiguration(
            http: http, passwordFile: passwordFile, allowedHosts: allowedHosts, dispatchers: dispatchers,
            retrievals: retrievals)
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
        _ key: ConfigurationKey<[String]>, _ reader: inout ConfigurationReader
    ) -> [MetricsTarget] {
        (reader.read(key) ?? []).compactMap { text in
            if let target = MetricsTarget(text) { return target }
            // A URL may hold a password, so the text is not repeated.
            reader.note(key.name, "has an item that is not http:// or https://, a host, and nothing after the port")
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
        guard let colon = text.firstRange(of: "://") else { return nil }
        switch text[..<colon.lowerBound].lowercased() {
        case "http": isSecure = false
        case "https": isSecure = true
        default: return nil
        }
        var rest = text[colon.upperBound...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        var name = rest.prefix { $0 != ":" }
        if rest.first == "[" {
            guard let close = rest.firstIndex(of: "]") else { return nil }
            name = rest[rest.index(after: rest.startIndex)..<close]
            rest = rest[rest.index(after: close)...]
        } else {
            rest = rest[name.endIndex...]
        }
        let hostBytes = ByteSet("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-._:").union(.digits)
        guard !name.isEmpty, hostBytes.containsAll(name) else { return nil }
        host = String(name)
        if rest.isEmpty {
            port = isSecure ? 443 : 80
        } else {
            guard rest.first == ":", ByteSet.digits.containsAll(rest.dropFirst()), let port = Int(rest.dropFirst()),
                (1...65_535).contains(port)
            else { return nil }
            self.port = port
        }
    }
}
