import Domain
import NIOCore
import NIOPosix
import NIOSSL
import NIOTLS
import OutgoingHTTP
import ServiceConfiguration

/// One HTTP/1.1 connection to the hub with at most one request in flight. It lives on its channel's event loop.
final class HubConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let sender: HubSender
    private var context: ChannelHandlerContext?
    private var parser = HubResponseParser()
    /// The next request's bytes, which the sender fills in. All requests share its memory: each is written before its
    /// response arrives.
    var output = ByteBuffer()
    private var failure: String?
    private(set) var current: HubSend?

    /// Before the handshake, no part of a request has left this process.
    private var awaitsHandshake: Bool

    init(sender: HubSender, usesTLS: Bool) {
        self.sender = sender
        awaitsHandshake = usesTLS
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Whether the channel can still carry a request.
    var isActive: Bool { context?.channel.isActive ?? false }

    /// Sends the bytes in ``output``; the connection must be idle. The sender gets the result of the request.
    func start(_ send: HubSend) {
        current = send
        guard let context else {
            return end(.notSent(reason: "the connection to the hub is closed"), .connection)
        }
        // Written from this handler towards the network; a failed write shows as a closed channel.
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }

    /// Ends the request in flight and closes the connection.
    func fail(_ reason: String, _ end: HubRequestEnd = .connection) {
        failure = failure ?? reason
        self.end(awaitsHandshake ? .notSent(reason: reason) : .unanswered(reason: reason), end)
        context?.close(promise: nil)
    }

    private func end(_ outcome: SendOutcome, _ end: HubRequestEnd) {
        guard let send = current else { return }
        current = nil
        sender.finished(send, outcome, end, on: self, isReusable: false)
    }

    func close() { context?.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard current != nil else {
            // There is no request: a late response to one that was given up, or the peer is not a hub.
            return context.close(promise: nil)
        }
        do {
            if let response = try parser.consume(unwrapInboundIn(data)) { finish(response) }
        } catch {
            fail("unreadable response: \(error.reason)")
        }
    }

    private func finish(_ response: HubResponse) {
        guard let send = current else { return }
        current = nil
        let isReusable = response.keepsAlive && !parser.hasLeftover && failure == nil
        sender.responded(send, response, on: self, isReusable: isReusable)
        if !isReusable { context?.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { awaitsHandshake = false }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The reason has the error's type only: a TLS or socket error may hold addresses, which belong in the log.
        sender.connectionBroke(error)
        fail("the connection to the hub broke (\(type(of: error)))")
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let response = parser.finish() { finish(response) }
        fail(parser.hasBegun ? "the hub closed the connection within its response" : "the hub closed the connection")
        sender.closed(self)
        context.fireChannelInactive()
    }
}

/// Opens channels to the hub: TCP, a proxy's tunnel if there is one, TLS with full verification if the endpoint uses
/// it, and the HTTP handler.
struct HubConnector: Sendable {
    private let endpoint: HubEndpoint
    private let proxy: OutgoingProxy?
    private let timeout: TimeAmount
    /// The error if the machine's trusted authorities cannot be read; each connection then fails with it.
    private let tls: Result<NIOSSLContext, any Error>?

    init(configuration: NotificationHubConfiguration, options: HubSenderOptions) {
        endpoint = configuration.endpoint
        proxy = configuration.proxy
        timeout = options.connectTimeout
        let authorities = configuration.outgoing.authorities
        tls = endpoint.usesTLS ? Result { try Self.context(authorities) } : nil
    }

    private static func context(_ authorities: TrustedAuthorities) throws -> NIOSSLContext {
        var configuration = OutgoingTLS.configuration(trusting: authorities)
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }

    /// A channel with a ``HubConnection``. Fails with a ``ProxyError`` if it is the proxy that does not connect.
    func connect(on eventLoop: any EventLoop, sender: HubSender) -> EventLoopFuture<any Channel> {
        let bootstrap = ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        if let proxy {
            // NIOSSL compares the certificate with the address at the other end of the connection, which is the proxy's.
            guard tls == nil || !Self.isAddress(endpoint.host) else {
                let reason = "a hub named by its address needs an entry in NO_PROXY"
                return eventLoop.makeFailedFuture(ProxyError(reason: reason))
            }
            return connect(bootstrap, through: proxy, sender: sender)
        }
        return
            bootstrap
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try addHandlers(to: channel, sender: sender) }
            }
            .connect(host: endpoint.host, port: endpoint.port)
    }

    private func connect(
        _ bootstrap: ClientBootstrap, through proxy: OutgoingProxy, sender: HubSender
    ) -> EventLoopFuture<any Channel> {
        bootstrap.connect(host: proxy.host, port: proxy.port)
            .flatMapErrorThrowing { _ in throw ProxyError(reason: "no connection to the proxy \(proxy)") }
            .flatMap { channel in
                let opened = ProxyTunnel.open(
                    on: channel, through: proxy, to: endpoint.host, port: endpoint.port, deadline: .now() + timeout)
                return opened.flatMapThrowing {
                    do {
                        try addHandlers(to: channel, sender: sender)
                    } catch {
                        // Without its handlers nothing would ever close it.
                        channel.close(promise: nil)
                        throw error
                    }
                    return channel
                }
            }
    }

    private func addHandlers(to channel: any Channel, sender: HubSender) throws {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(Self.handler(try tls.get(), host: endpoint.host)) }
        try pipeline.addHandler(HubConnection(sender: sender, usesTLS: tls != nil))
    }

    /// A name is sent as SNI and verified; an address is verified as an address.
    private static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        try NIOSSLClientHandler(context: context, serverHostname: isAddress(host) ? nil : host)
    }

    private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }
}
