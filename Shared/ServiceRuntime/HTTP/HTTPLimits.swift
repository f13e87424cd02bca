import ServiceConfiguration

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

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
