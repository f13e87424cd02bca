import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import NIOTLS
import OutgoingHTTP

/// Why there is no connection to an origin.
enum PushDialError: Error, CustomStringConvertible {
    case timeout
    case noAddress
    case addressNotAllowed
    case tooManyLookups
    case closed
    /// The server has chosen a version of HTTP that the client does not want.
    case otherVersion
    case noAuthority
    case addressThroughProxy

    var description: String {
        switch self {
        case .timeout: "no connection in time"
        case .noAddress: "the name has no address"
        case .addressNotAllowed: "the address is not allowed"
        case .tooManyLookups: "too many look-ups are in progress"
        case .closed: "the server closed the connection"
        case .otherVersion: "the server does not have this version of HTTP"
        case .noAuthority: "caFile has no certificate"
        case .addressThroughProxy: "a server named by its address needs an entry in NO_PROXY"
        }
    }

    /// An error as the reason of a failure, without names and addresses.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as PushDialError: error.description
        case is ProxyError: "the proxy does not connect"
        case let error as NIOConnectionError: (error.dnsAError as? PushDialError)?.description ?? "no connection"
        case let error as NIOSSLExtraError where error == .failedToValidateHostname:
            "the certificate is for another name"
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: "TLS failed"
        default: "no connection"
        }
    }
}

/// One attempt to open a connection to an origin: look-up, TCP, a proxy's tunnel if there is one, TLS, the choice of
/// HTTP's version, and for HTTP/2 the first SETTINGS. The owner gets the result once.
///
/// It is `Sendable` because all is done on one event loop.
final class PushDial: @unchecked Sendable {
    /// How all connections of a client are made.
    struct Settings: Sendable {
        let configuration: PushHTTPClientConfiguration
        /// The error if the authorities cannot be read; each attempt then fails with it.
        let tls: Result<NIOSSLContext, any Error>
        let lookups = NameLookups()

        init(_ configuration: PushHTTPClientConfiguration) {
            self.configuration = configuration
            tls = Result { try Self.context(configuration) }
        }

        private static func context(_ configuration: PushHTTPClientConfiguration) throws -> NIOSSLContext {
            var tls = configuration.outgoing.tls
            if let pem = configuration.authorities {
                let roots = (try? NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))) ?? []
                if roots.isEmpty { throw PushDialError.noAuthority }
                tls.additionalTrustRoots.append(.certificates(roots))
            }
            switch configuration.versions {
            case .any: tls.applicationProtocols = ["h2", "http/1.1"]
            case .http2: tls.applicationProtocols = ["h2"]
            case .http1: tls.applicationProtocols = ["http/1.1"]
            }
            // A dead peer does not answer a closure alert.
            tls.shutdownTimeout = .seconds(1)
            return try NIOSSLContext(configuration: tls)
        }

        var session: HTTP2Session.Settings {
            HTTP2Session.Settings(
                maxStreams: max(1, configuration.streamsPerConnection),
                sendsFirstRequestAlone: configuration.sendsFirstRequestAlone,
                pingsDuringSilence: configuration.pingsDuringSilence.map { TimeAmount($0) },
                pingTimeout: TimeAmount(configuration.pingTimeout), endsConnection: configuration.endsConnection)
        }
    }

    let number: Int
    let origin: PushOrigin
    let owner: any PushConnectionOwner
    private let settings: Settings
    private let eventLoop: any EventLoop
    private var channel: (any Channel)?
    private var timer: Scheduled<Void>?
    private var isDone = false

    init(
        number: Int, origin: PushOrigin, settings: Settings, owner: any PushConnectionOwner,
        eventLoop: any EventLoop
    ) {
        self.number = number
        self.origin = origin
        self.settings = settings
        self.owner = owner
        self.eventLoop = eventLoop
    }

    /// To be called on the event loop.
    func start() {
        let timeout = TimeAmount(settings.configuration.connectTimeout)
        timer = eventLoop.scheduleTask(in: timeout) { self.fail(PushDialError.timeout) }
        let bootstrap = ClientBootstrap(group: eventLoop).connectTimeout(timeout)
        guard let proxy = settings.configuration.outgoing.proxy(to: origin.host, port: origin.port, usesTLS: true)
        else {
            let resolver = GuardedResolver(origin, settings: settings, eventLoop: eventLoop)
            resolver.start()
            bootstrap.resolver(resolver).connect(host: origin.host, port: origin.port)
                .whenComplete { self.connected($0) }
            return
        }
        // NIOSSL compares the certificate with the address at the other end of the connection, which is the proxy's.
        if Self.isAddress(origin.host) { return eventLoop.execute { self.fail(PushDialError.addressThroughProxy) } }
        let deadline = NIODeadline.now() + timeout
        bootstrap.connect(host: proxy.host, port: proxy.port)
            .flatMapErrorThrowing { _ in throw ProxyError(reason: "no connection to the proxy \(proxy)") }
            .flatMap { [origin] channel in
                ProxyTunnel.open(
                    on: channel, through: proxy, to: origin.host, port: origin.port, deadline: deadline
                ).map { channel }
            }
            .whenComplete { self.connected($0) }
    }

    private func connected(_ result: Result<any Channel, any Error>) {
        switch result {
        case .failure(let error): fail(error)
        case .success(let channel):
            self.channel = channel
            // Too late.
            if isDone { return channel.close(promise: nil) }
            do {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(Self.handler(try settings.tls.get(), host: origin.host))
                try pipeline.addHandler(PushHandshake(dial: self))
            } catch {
                fail(error)
            }
            if !channel.isActive { fail(PushDialError.closed) }
        }
    }

    /// A name is sent as SNI and verified; an address is verified as an address.
    private static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: isAddress(host) ? nil : host)
    }

    private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }

    /// TLS is there, and the server has chosen a version of HTTP, or does not know the choice.
    func negotiated(_ name: String?, _ pipeline: ChannelPipeline.SynchronousOperations) {
        let versions = settings.configuration.versions
        do {
            switch name {
            case "h2" where versions != .http1:
                let session = HTTP2Session(settings: settings.session, now: .now())
                try pipeline.addHandlers([HTTP2Connection.codec(), HTTP2Connection(dial: self, session: session)])
            case nil where versions != .http2, "http/1.1" where versions != .http2:
                try pipeline.addHTTPClientHandlers(decoderLimitConfiguration: HTTP1Connection.limits)
                let connection = HTTP1Connection(dial: self)
                try pipeline.addHandler(connection)
                succeed(connection, room: 1, isMultiplexed: false)
            default: fail(PushDialError.otherVersion)
            }
        } catch {
            fail(error)
        }
    }

    func succeed(_ connection: any PushConnection, room: Int, isMultiplexed: Bool) {
        guard finish() else { return }
        owner.connected(self, connection, room: room, isMultiplexed: isMultiplexed)
    }

    func fail(_ error: any Error) {
        guard finish() else { return }
        channel?.close(promise: nil)
        owner.connectFailed(self, error)
    }

    private func finish() -> Bool {
        if isDone { return false }
        isDone = true
        timer?.cancel()
        timer = nil
        return true
    }
}

/// Waits for the end of the handshake of TLS, and then leaves the pipeline.
private final class PushHandshake: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private let dial: PushDial

    init(dial: PushDial) { self.dial = dial }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted(let name) = event else {
            return context.fireUserInboundEventTriggered(event)
        }
        let pipeline = context.pipeline.syncOperations
        // The handlers of HTTP come behind this one.
        dial.negotiated(name, pipeline)
        pipeline.removeHandler(context: context, promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        dial.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        dial.fail(PushDialError.closed)
        context.fireChannelInactive()
    }
}
