import NIOCore
import NIOPosix
import NIOSSL

/// Opens channels to the hub: TCP, TLS with full verification where the endpoint says so, and the HTTP handler.
struct HubConnector: Sendable {
    private let endpoint: HubEndpoint
    private let timeout: TimeAmount
    /// Why not, when the machine's trusted authorities cannot be read; each connection then fails with it.
    private let tls: Result<NIOSSLContext, any Error>?

    init(endpoint: HubEndpoint, options: HubSenderOptions) {
        self.endpoint = endpoint
        timeout = options.connectTimeout
        tls = endpoint.usesTLS ? Result { try Self.context(trustedRoots: options.trustedRoots) } : nil
    }

    private static func context(trustedRoots: String?) throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        configuration.applicationProtocols = ["http/1.1"]
        if let trustedRoots { configuration.trustRoots = .file(trustedRoots) }
        return try NIOSSLContext(configuration: configuration)
    }

    func connect(on eventLoop: any EventLoop, lane: HubLane) -> EventLoopFuture<any Channel> {
        let (tls, host) = (tls, endpoint.host)
        return ClientBootstrap(group: eventLoop)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(Self.handler(try tls.get(), host: host)) }
                    try pipeline.addHandler(HubConnection(lane: lane, usesTLS: tls != nil))
                }
            }
            .connect(host: host, port: endpoint.port)
    }

    /// A name goes into SNI and is verified; an address is verified as an address.
    private static func handler(_ context: NIOSSLContext, host: String) throws -> NIOSSLClientHandler {
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        return try NIOSSLClientHandler(context: context, serverHostname: isAddress ? nil : host)
    }
}
