import CoreMetrics
import HummingbirdCore
import HummingbirdHTTP2
import Logging
import NIOCore
import NIOSSL
import SecurePushCore
import ServiceConfiguration
import Synchronization

/// All connections of a listener: admits them within the limits, and counts those that a limit has closed.
final class HTTPConnections: Sendable {
    /// Why a connection was refused or closed by the service, as the label `reason` of
    /// `securepush_http_connections_closed_total`.
    enum Reason: String, CaseIterable {
        /// Refused: all connections are in use.
        case limit
        /// Refused: all connections of its address are in use.
        case address
        /// Closed while idle, in exchange for a new connection.
        case evicted
        /// The TLS handshake took too long.
        case handshake
        /// The connection was idle for too long.
        case idle
        /// The head of a request took too long.
        case header
        /// The next part of a body took too long.
        case body
        /// The rest of a refused request's body was too long.
        case drain
        /// The client does not read its answer.
        case write
    }

    /// The event that tells an idle connection to close in exchange for a new one.
    struct Eviction: Sendable {}

    private struct State {
        var book: ConnectionBook
        var channels: [ConnectionBook.ID: any Channel] = [:]
        var nextWarning = ContinuousClock.now
    }

    let limits: HTTPLimits
    private let state: Mutex<State>
    private let counters: [Reason: Counter]
    private let logger: Logger

    /// - Parameter limits: the result of ``HTTPLimits/resolved(descriptors:)``.
    init(limits: HTTPLimits, context: ServiceContext) {
        self.limits = limits
        logger = context.logger
        state = Mutex(
            State(
                book: ConnectionBook(
                    maxConnections: limits.maxConnections ?? .max, maxPerAddress: limits.maxConnectionsPerAddress ?? 0)
            ))
        var counters: [Reason: Counter] = [:]
        for reason in Reason.allCases {
            counters[reason] = Counter(
                label: "securepush_http_connections_closed_total", dimensions: [("reason", reason.rawValue)],
                factory: context.metrics)
        }
        self.counters = counters
        context.metrics.observe("securepush_http_connections") { [weak self] in self.map { Double($0.count) } }
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.book.count } }

    /// Counts a new connection until it is closed. Call it on the channel's event loop.
    ///
    /// - Parameter isTLS: whether its first bytes are a TLS handshake.
    /// - Returns: the handler for the place in its pipeline where bytes are plain; `nil` if it was refused and closed.
    func admit(_ channel: any Channel, isTLS: Bool) -> ConnectionHandler? {
        let address = channel.remoteAddress?.ipAddress.flatMap { ClientAddress($0) }
        let (admission, victim, warns) = state.withLock { state in
            let admission = state.book.admit(address)
            var victim: (any Channel)?
            switch admission {
            case .admitted(let id, _, let evicted):
                state.channels[id] = channel
                victim = evicted.flatMap { state.channels[$0] }
                return (admission, victim, false)
            case .refused:
                let now = ContinuousClock.now
                guard now >= state.nextWarning else { return (admission, victim, false) }
                state.nextWarning = now + .seconds(60)
                return (admission, victim, true)
            }
        }
        victim?.pipeline.fireUserInboundEventTriggered(Eviction())
        switch admission {
        case .refused(let refusal):
            count(refusal == .limit ? .limit : .address)
            if warns {
                let key =
                    refusal == .limit
                    ? ConfigurationKeys.httpMaxConnections : ConfigurationKeys.httpMaxConnectionsPerAddress
                logger.warning(
                    "Connections are refused because the limit is reached", metadata: ["limit": "\(key.name)"])
            }
            channel.close(promise: nil)
            return nil
        case .admitted(let id, let isRestricted, _):
            channel.closeFuture.whenComplete { [weak self] _ in self?.closed(id) }
            return ConnectionHandler(self, id: id, isRestricted: isRestricted, isTLS: isTLS)
        }
    }

    func count(_ reason: Reason) { counters[reason]?.increment(by: 1) }

    func becameBusy(_ id: ConnectionBook.ID) { state.withLock { $0.book.becameBusy(id) } }

    func becameIdle(_ id: ConnectionBook.ID) { state.withLock { $0.book.becameIdle(id) } }

    /// A connection that was to be evicted has received a request.
    func keep(_ id: ConnectionBook.ID) { state.withLock { $0.book.keep(id) } }

    private func closed(_ id: ConnectionBook.ID) {
        state.withLock { state in
            state.book.closed(id)
            state.channels[id] = nil
        }
    }
}

/// The connection was refused and is closed.
struct ConnectionRefused: Error {}

/// Hummingbird's HTTP/1.1 channel within the listener's limits.
struct GuardedHTTP1Channel: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http1: HTTP1Channel
    let connections: HTTPConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let handler = connections.admit(channel, isTLS: false) else {
            return channel.eventLoop.makeFailedFuture(ConnectionRefused())
        }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return http1.setup(channel: channel, logger: logger)
    }

    func handle(value: Value, logger: Logger) async { await http1.handle(value: value, logger: logger) }
}

/// Hummingbird's channel for HTTPS with the listener's limits. Each connection gets the newest certificate.
final class GuardedTLSChannel: ServerChildChannel {
    typealias Value = HTTP2UpgradeChannel.Value

    private let certificates: CertificateStore
    private let connections: HTTPConnections
    private let make: @Sendable (TLSConfiguration) throws -> HTTP2UpgradeChannel
    private let newest: Mutex<(channel: HTTP2UpgradeChannel, generation: Int)>

    init(
        certificates: CertificateStore, connections: HTTPConnections,
        make: @escaping @Sendable (TLSConfiguration) throws -> HTTP2UpgradeChannel
    ) throws {
        self.certificates = certificates
        self.connections = connections
        self.make = make
        let (configuration, generation) = certificates.current
        newest = Mutex((try make(configuration), generation))
    }

    private func current() throws -> HTTP2UpgradeChannel {
        let (configuration, generation) = certificates.current
        let known = newest.withLock { $0 }
        if known.generation == generation { return known.channel }
        let channel = try make(configuration)
        newest.withLock { $0 = (channel, generation) }
        return channel
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let handler = connections.admit(channel, isTLS: true) else {
            return channel.eventLoop.makeFailedFuture(ConnectionRefused())
        }
        let upgrade: HTTP2UpgradeChannel
        do {
            upgrade = try current()
        } catch {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
        let bound = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        return upgrade.setup(channel: channel, logger: logger).flatMapThrowing { value in
            let pipeline = channel.pipeline.syncOperations
            let tls = try pipeline.handler(type: NIOSSLServerHandler.self)
            try pipeline.addHandler(bound.value, position: .after(tls))
            return value
        }
    }

    /// Handling does not depend on the certificate that the connection began with.
    func handle(value: Value, logger: Logger) async {
        await newest.withLock { $0.channel }.handle(value: value, logger: logger)
    }
}
