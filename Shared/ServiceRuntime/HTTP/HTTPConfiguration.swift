public import ServiceConfiguration

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
            ConfigurationKeys.allowInsecure,
        ] + HTTPLimits.keys
    }

    /// Reads `HTTP_HOST`, `HTTP_PORT`, `TLS_CERTIFICATE_FILE`, `TLS_PRIVATE_KEY_FILE` and the keys of the limits.
    ///
    /// - Parameter isAPI: whether credentials and payloads pass here: then listening beyond loopback without TLS is an
    ///   issue, unless `ALLOW_INSECURE` names `http`.
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    public static func read(
        _ reader: inout ConfigurationReader, defaultPort: Int, isAPI: Bool = true
    ) -> HTTPConfiguration? {
        let before = reader.issues.count
        let host = reader.read(ConfigurationKeys.httpHost)
        let port = reader.read(ConfigurationKeys.httpPort(default: defaultPort))
        let tls = readTLS(&reader)
        let limits = HTTPLimits.read(&reader)
        let hasTLS = tls != nil || reader.isSet(ConfigurationKeys.tlsCertificateFile)
        // Read by every service, so that a value that cannot be used is told by each.
        let isAllowed = reader.allows(.http)
        if isAPI, !hasTLS, !isAllowed, let host, !InsecureLink.isLoopback(host) {
            reader.refuse(
                ["listens on \(host)"], of: ConfigurationKeys.httpHost.name, as: .http,
                remedy: "set TLS_CERTIFICATE_FILE and TLS_PRIVATE_KEY_FILE")
        }
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

/// The bounds of what clients may hold of a service that listens.
public struct HTTPLimits: Sendable, Hashable {
    /// Descriptors that connections of clients never take: for the database, the broker, the hub and files.
    public static let reservedDescriptors = 128

    /// Connections at once; `nil`: 0.8 of the process's descriptors, and at most all but the reserve.
    public var maxConnections: Int?
    /// Connections at once of one client address (IPv6: of one /64 network); `nil`: half of all, 0: no such limit.
    public var maxConnectionsPerAddress: Int?
    /// Requests at once, without those of operators.
    public var maxInFlight = 4096
    /// From the first byte of a request's head to its last.
    public var headerTimeout: Duration = .seconds(10)
    /// How long nothing of a request's body may come while the service waits for it.
    public var bodyTimeout: Duration = .seconds(30)
    /// From accepting a connection to the end of its TLS handshake.
    public var handshakeTimeout: Duration = .seconds(10)
    /// How long a connection may have no request, or its client take nothing of an answer.
    public var idleTimeout: Duration = .seconds(60)
    /// How long an HTTP/2 client has to answer GOAWAY when its connection has been idle for too long.
    public var goAwayGrace: Duration = .seconds(5)
    /// How long the body of a request is read on that has been answered already.
    public var drainTimeout: Duration = .seconds(10)
    /// How much of such a body is read.
    public var maxDrainedBytes = 4 << 20

    /// The defaults.
    public init() {}

    static let keys: [any ConfigurationKeyDescription] = [
        ConfigurationKeys.httpMaxConnections, ConfigurationKeys.httpMaxConnectionsPerAddress,
        ConfigurationKeys.httpMaxInFlight, ConfigurationKeys.httpHeaderTimeout, ConfigurationKeys.httpBodyTimeout,
    ]

    /// What cannot be used is noted in the reader, and has its default here.
    static func read(_ reader: inout ConfigurationReader) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.maxConnections = reader.read(ConfigurationKeys.httpMaxConnections)
        limits.maxConnectionsPerAddress = reader.read(ConfigurationKeys.httpMaxConnectionsPerAddress)
        limits.maxInFlight = reader.read(ConfigurationKeys.httpMaxInFlight) ?? limits.maxInFlight
        limits.headerTimeout = reader.read(ConfigurationKeys.httpHeaderTimeout) ?? limits.headerTimeout
        limits.bodyTimeout = reader.read(ConfigurationKeys.httpBodyTimeout) ?? limits.bodyTimeout
        return limits
    }

    /// The limits with every number chosen.
    ///
    /// - Parameter descriptors: how many the process may have open.
    /// - Throws: ``ConfigurationError`` when more connections are asked for than leave the reserve free.
    func resolved(descriptors: Int = HTTPLimits.descriptorLimit) throws -> HTTPLimits {
        var limits = self
        let most = max(16, descriptors - Self.reservedDescriptors)
        if let maxConnections, maxConnections > most {
            throw ConfigurationError(
                ConfigurationKeys.httpMaxConnections.name,
                "is \(maxConnections), and this process may have \(descriptors) descriptors, of which "
                    + "\(Self.reservedDescriptors) are kept for other things: set at most \(most), or raise `ulimit -n`"
            )
        }
        let total = maxConnections ?? min(most, max(16, descriptors / 10 * 8))
        limits.maxConnections = total
        limits.maxConnectionsPerAddress = maxConnectionsPerAddress ?? max(1, total / 2)
        return limits
    }

    /// The soft limit of open descriptors, which ``ProcessTuning`` has raised.
    static var descriptorLimit: Int {
        var limit = rlimit()
        #if canImport(Glibc)
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        #else
        guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return 1024 }
        #endif
        return Int(clamping: min(limit.rlim_cur, 1 << 20))
    }
}
