package import ServiceConfiguration

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The address that a service listens on, its TLS files and its limits.
package struct HTTPConfiguration: Sendable, Hashable {
    /// The certificate chain and its private key, both PEM files.
    package struct TLS: Sendable, Hashable {
        /// The path of the chain, leaf first.
        package var certificateFile: String
        /// The path of the leaf's key.
        package var privateKeyFile: String

        /// Names the files; they are read when the service starts.
        package init(certificateFile: String, privateKeyFile: String) {
            self.certificateFile = certificateFile
            self.privateKeyFile = privateKeyFile
        }
    }

    /// The address or name to listen on.
    package var host: String
    /// The TCP port; 0 takes any free one.
    package var port: Int
    /// Serve HTTPS with HTTP/1.1 and HTTP/2 instead of plain HTTP/1.1.
    package var tls: TLS?
    package var limits = HTTPLimits()
    /// How long a connection may be idle.
    package var idleTimeout: Duration {
        get { limits.idleTimeout }
        set { limits.idleTimeout = newValue }
    }

    /// Listens with the default limits.
    package init(host: String = "127.0.0.1", port: Int, tls: TLS? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
    }

    /// Reads `HTTP_HOST`, `HTTP_PORT`, `TLS_CERTIFICATE_FILE`, `TLS_PRIVATE_KEY_FILE` and the keys of the limits.
    ///
    /// - Parameter isAPI: whether the service receives credentials or payloads. If so, listening beyond loopback
    ///   without TLS is an issue, unless `ALLOW_INSECURE` names `http`.
    /// - Returns: `nil` if one of them cannot be used; the reader holds the issue.
    package static func read(
        _ reader: inout ConfigurationReader, defaultPort: Int, isAPI: Bool = true
    ) -> HTTPConfiguration? {
        let before = reader.issues.count
        var configuration = HTTPConfiguration(
            host: reader[\.httpHost], port: reader[ConfigurationKeys.port(default: defaultPort)],
            tls: readTLS(&reader))
        configuration.limits = HTTPLimits.read(&reader)
        // Every service reads the key, so that every service reports an invalid value.
        let isAllowed = reader.allows(.http)
        let hasTLS = configuration.tls != nil || reader.isSet(\.tlsCertificateFile)
        if isAPI, !hasTLS, !isAllowed, !InsecureLink.isLoopback(configuration.host) {
            reader.refuse(
                ["listens on \(configuration.host)"], of: \.httpHost, as: .http,
                remedy: "set TLS_CERTIFICATE_FILE and TLS_PRIVATE_KEY_FILE")
        }
        return reader.issues.count == before ? configuration : nil
    }

    /// Checks the settings before the start: the limits, the TLS files, and the host if it is a name.
    ///
    /// - Parameter key: the setting of the host.
    /// - Throws: ``ConfigurationError``.
    package func check(_ key: ConfigurationKey<String> = ConfigurationKeys.httpHost) async throws {
        _ = try limits.resolved()
        _ = try tls?.load()
        if let problem = await HostLookup.problem(of: host) { throw ConfigurationError(key.name, problem) }
    }

    private static func readTLS(_ reader: inout ConfigurationReader) -> TLS? {
        switch (reader.isSet(\.tlsCertificateFile), reader.isSet(\.tlsPrivateKeyFile)) {
        case (true, false): reader.note(\.tlsPrivateKeyFile, "is needed, since TLS_CERTIFICATE_FILE is set")
        case (false, true): reader.note(\.tlsCertificateFile, "is needed, since TLS_PRIVATE_KEY_FILE is set")
        default: break
        }
        let certificateFile = reader[\.tlsCertificateFile]
        guard let privateKeyFile = reader[\.tlsPrivateKeyFile], let certificateFile else { return nil }
        return TLS(certificateFile: certificateFile, privateKeyFile: privateKeyFile)
    }
}

/// The bounds of the connections and requests that clients may keep open.
package struct HTTPLimits: Sendable, Hashable {
    /// Descriptors that are reserved for the database, the broker, the hub and files.
    package static let reservedDescriptors = 128

    /// Connections at once. `nil`: 0.8 of the process's descriptors, and at most all but the reserved ones.
    package var maxConnections: Int?
    /// Connections at once per client address (IPv6: per /64 network). `nil`: half of all; 0: no limit.
    package var maxConnectionsPerAddress: Int?
    /// Requests in flight, without those of operators.
    package var maxInFlight = 4096
    /// From the first byte of a request's head to its last.
    package var headerTimeout: Duration = .seconds(10)
    /// How long the service waits for the next part of a request's body.
    package var bodyTimeout: Duration = .seconds(30)
    /// The time for a small body as a whole, and for the beginning of any other.
    package var smallBodyTimeout: Duration = .seconds(10)
    /// The declared length up to which a body is small, in bytes.
    package var maxSmallBody = 64 * 1024
    /// The bytes that any other body must bring per second.
    package var minBodyBytesPerSecond = 1024
    /// The paths whose bodies are streams: the route has a clock of its own, which ends before ``streamTimeout``.
    package var streamedPaths: Set<String> = []
    /// How long the service waits for the next part of a stream.
    package var streamTimeout: Duration = .seconds(75)
    /// Requests whose bodies have not arrived, per client address (IPv6: per /64 network).
    package var maxWaitingBodiesPerAddress = 1024
    /// Requests whose bodies have not arrived, of all addresses.
    package var maxWaitingBodies = 16_384
    /// The proxies that may tell a client's address.
    package var trustedProxies: [AddressBlock] = []
    /// Requests at once on an HTTP/2 connection.
    package var maxStreams = 32
    /// Bytes that a client may leave unread for ``slowReaderTimeout``, with the memory overhead of their answers.
    package var maxUnsentBytes = 256 * 1024
    /// How long a client with ``maxUnsentBytes`` unread may take hardly any of them.
    package var slowReaderTimeout: Duration = .seconds(5)
    /// Unread bytes of all connections together. Above this, the connections with the most are closed.
    package var maxUnsentBytesInAll = 64 << 20
    /// From accepting a connection to the end of its TLS handshake.
    package var handshakeTimeout: Duration = .seconds(10)
    /// How long a connection may be idle, and how long its client may not read any of an answer.
    package var idleTimeout: Duration = .seconds(60)
    /// How long the client of an idle HTTP/2 connection may take to answer GOAWAY.
    package var goAwayGrace: Duration = .seconds(5)
    /// How long the rest of a body is read after its request was answered.
    package var drainTimeout: Duration = .seconds(10)
    /// How many bytes of a body are read after its request was answered.
    package var maxDrainedBytes = 4 << 20

    package init() {}

    /// Values that cannot be used are noted in the reader, and have their defaults here.
    static func read(_ reader: inout ConfigurationReader) -> HTTPLimits {
        var limits = HTTPLimits()
        limits.maxConnections = reader[\.httpMaxConnections]
        limits.maxConnectionsPerAddress = reader[\.httpMaxConnectionsPerAddress]
        limits.maxInFlight = reader[\.httpMaxInFlight]
        limits.headerTimeout = reader[\.httpHeaderTimeout]
        limits.bodyTimeout = reader[\.httpBodyTimeout]
        limits.trustedProxies = reader[\.trustedProxies] ?? []
        return limits
    }

    /// The limits with their defaults filled in.
    ///
    /// - Parameter descriptors: how many the process may have open.
    /// - Throws: ``ConfigurationError`` when more connections are asked for than leave the reserve free.
    func resolved(descriptors: Int = HTTPLimits.descriptorLimit) throws -> HTTPLimits {
        var limits = self
        let maximum = max(16, descriptors - Self.reservedDescriptors)
        if let maxConnections, maxConnections > maximum {
            throw ConfigurationError(
                ConfigurationKeys.httpMaxConnections.name,
                "is \(maxConnections), but this process may have \(descriptors) descriptors, of which "
                    + "\(Self.reservedDescriptors) are reserved: set at most \(maximum), or raise `ulimit -n`")
        }
        let total = maxConnections ?? min(maximum, max(16, descriptors / 10 * 8))
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
