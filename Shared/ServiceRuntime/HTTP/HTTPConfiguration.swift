public import ServiceConfiguration

/// Where and how a service listens.
public struct HTTPConfiguration: Sendable, Hashable {
    /// The certificate chain and its private key, both PEM files.
    public struct TLS: Sendable, Hashable {
        public var certificateFile: String
        public var privateKeyFile: String

        public init(certificateFile: String, privateKeyFile: String) {
            self.certificateFile = certificateFile
            self.privateKeyFile = privateKeyFile
        }
    }

    public var host: String
    /// 0 takes any free port.
    public var port: Int
    /// HTTPS with HTTP/1.1 and HTTP/2 instead of plain HTTP/1.1.
    public var tls: TLS?
    /// How many connections and requests there may be, and how long their parts may take.
    public var limits = HTTPLimits()
    /// How long a connection may have no request.
    public var idleTimeout: Duration {
        get { limits.idleTimeout }
        set { limits.idleTimeout = newValue }
    }

    public init(host: String = "127.0.0.1", port: Int, tls: TLS? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
    }

    /// The keys that ``read(_:defaultPort:)`` uses, for a service's list.
    public static func keys(defaultPort: Int) -> [any ConfigurationKeyDescription] {
        [
            ConfigurationKeys.httpHost, ConfigurationKeys.httpPort(default: defaultPort),
            ConfigurationKeys.tlsCertificateFile, ConfigurationKeys.tlsPrivateKeyFile,
        ] + HTTPLimits.keys
    }

    /// Reads `HTTP_HOST`, `HTTP_PORT`, `TLS_CERTIFICATE_FILE`, `TLS_PRIVATE_KEY_FILE` and the keys of the limits.
    ///
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(_ reader: inout ConfigurationReader, defaultPort: Int) -> HTTPConfiguration? {
        let before = reader.issues.count
        let host = reader.read(ConfigurationKeys.httpHost)
        let port = reader.read(ConfigurationKeys.httpPort(default: defaultPort))
        let tls = readTLS(&reader)
        let limits = HTTPLimits.read(&reader)
        guard let host, let port, reader.issues.count == before else { return nil }
        var configuration = HTTPConfiguration(host: host, port: port, tls: tls)
        configuration.limits = limits
        return configuration
    }

    private static func readTLS(_ reader: inout ConfigurationReader) -> TLS? {
        let certificate = ConfigurationKeys.tlsCertificateFile
        let privateKey = ConfigurationKeys.tlsPrivateKeyFile
        switch (reader.isSet(certificate), reader.isSet(privateKey)) {
        case (true, false): reader.note(privateKey.name, "is needed, since \(certificate.name) is set")
        case (false, true): reader.note(certificate.name, "is needed, since \(privateKey.name) is set")
        default: break
        }
        let certificateFile = reader.read(certificate)
        guard let privateKeyFile = reader.read(privateKey), let certificateFile else { return nil }
        return TLS(certificateFile: certificateFile, privateKeyFile: privateKeyFile)
    }
}
