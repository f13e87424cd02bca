package import NIOCore
package import OutgoingHTTP

/// The settings of a ``PushHTTPClient``.
package struct PushHTTPClientConfiguration: Sendable {
    /// The versions of HTTP that the client offers to a server (ALPN, RFC 7301).
    package enum Versions: Sendable, Hashable {
        /// HTTP/2, and HTTP/1.1 where the server does not have it.
        case any
        /// A server without HTTP/2 is not used.
        case http2
        case http1
    }

    /// Names the client in metrics and logs: `webpush`, `apns`, `fcm` or `wns`.
    package var name: String
    package var versions = Versions.any
    /// Proxies, and the trusted authorities.
    package var outgoing = OutgoingConfiguration()
    /// Authorities in PEM that are trusted too: the text of a hub's `caFile`.
    package var authorities: String?
    /// Decides whether a connection may be made to an address from the look-up of an origin. It is not called if a
    /// proxy connects, because the proxy looks the name up. Any thread may call it.
    package var isAllowed: @Sendable (SocketAddress, PushOrigin) -> Bool = { _, _ in true }
    /// Hosts that logs may name, because they are no secret of a device. Others are a hash of 8 characters.
    package var publicHosts: Set<String> = []

    /// The maximum of connections that take requests of one origin.
    package var connectionsPerOrigin = 4
    /// The maximum of origins with connections or requests. If a new one comes, the idle one that was used least
    /// recently gives way.
    package var origins = 256
    /// The maximum of requests of one origin that wait for a connection.
    package var waitingPerOrigin = 1_000
    /// The maximum of requests in flight on a connection of HTTP/2, even if the server allows more.
    package var streamsPerConnection = 500
    /// Whether a connection of HTTP/2 sends only one request until the server has answered with a status that shows
    /// that it accepts the credentials, as APNs requires.
    package var sendsFirstRequestAlone = false
    /// Whether a connection of HTTP/2 takes no more requests after this answer, because its server says so.
    package var endsConnection: @Sendable (PushHTTPResponse) -> Bool = { _ in false }

    /// For look-up, TCP, a proxy's tunnel, TLS, and the first SETTINGS of HTTP/2 together.
    package var connectTimeout = Duration.seconds(10)
    /// A connection without requests is closed after this time.
    package var idleTimeout = Duration.seconds(300)
    /// A connection of HTTP/2 from which nothing came for this time answers a PING before it gets a request; `nil` for
    /// no PING.
    package var pingsAfterIdle: Duration? = .seconds(60)
    /// While requests are in flight, a PING is sent when nothing came for this time; `nil` for no PING.
    package var pingsDuringSilence: Duration? = .seconds(30)
    /// A connection that does not answer a PING in this time is closed.
    package var pingTimeout = Duration.seconds(5)

    /// Blocks its thread. Tests use another one.
    var lookUp: @Sendable (_ host: String, _ port: Int) throws -> [SocketAddress] = {
        try NameLookups.addresses(of: $0, port: $1)
    }

    package init(name: String, outgoing: OutgoingConfiguration = .init(), authorities: String? = nil) {
        (self.name, self.outgoing, self.authorities) = (name, outgoing, authorities)
    }
}
