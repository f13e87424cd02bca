import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP2
import NIOHTTPTypesHTTP2
import NIOSSL
import Synchronization

/// The connection was refused and is closed.
struct ConnectionRefused: Error {}

/// Hummingbird's HTTP/1.1 channel within the listener's limits.
struct GuardedHTTP1Channel: ServerChildChannel {
    let http1: HTTP1Channel
    let connections: HTTPConnections

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<AcceptedChannel> {
        guard let handler = connections.admit(channel, isTLS: false) else {
            return channel.eventLoop.makeFailedFuture(ConnectionRefused())
        }
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return http1.setup(channel: channel, logger: logger).map(AcceptedChannel.init)
    }

    func handle(value: AcceptedChannel, logger: Logger) async { await value.handle(by: http1, logger: logger) }
}

/// HTTPS with HTTP/1.1 and HTTP/2 within the listener's limits. Each connection gets the newest certificate.
///
/// Hummingbird's own channel for HTTP/2 lets nobody set the number of streams. This one is the same but for that and
/// for the bounds of frames.
final class GuardedTLSChannel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        typealias Streams = NIOHTTP2Handler.AsyncStreamMultiplexer<AcceptedChannel>

        let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<AcceptedChannel, Streams>>
        let channel: any Channel
    }

    private let http1: HTTP1Channel
    private let certificates: CertificateStore
    private let connections: HTTPConnections
    private let newest: Mutex<(tls: NIOSSLContext, generation: Int)>

    /// - Throws: an error of NIOSSL if the certificate cannot be used.
    init(http1: HTTP1Channel, certificates: CertificateStore, connections: HTTPConnections) throws {
        self.http1 = http1
        self.certificates = certificates
        self.connections = connections
        let (configuration, generation) = certificates.current
        newest = Mutex((try Self.context(configuration), generation))
    }

    private static func context(_ configuration: TLSConfiguration) throws -> NIOSSLContext {
        var configuration = configuration
        configuration.applicationProtocols = NIOHTTP2SupportedALPNProtocols
        return try NIOSSLContext(configuration: configuration)
    }

    private func current() throws -> NIOSSLContext {
        let (configuration, generation) = certificates.current
        let known = newest.withLock { $0 }
        if known.generation == generation { return known.tls }
        let tls = try Self.context(configuration)
        newest.withLock { $0 = (tls, generation) }
        return tls
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let handler = connections.admit(channel, isTLS: true) else {
            return channel.eventLoop.makeFailedFuture(ConnectionRefused())
        }
        do {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(NIOSSLServerHandler(context: try current()))
            try pipeline.addHandler(handler)
        } catch {
            channel.close(promise: nil)
            return channel.eventLoop.makeFailedFuture(error)
        }
        return channel.configureHTTP2AsyncSecureUpgrade { [http1] channel in
            http1.setup(channel: channel, logger: logger).map(AcceptedChannel.init)
        } http2ConnectionInitializer: { [self] channel in
            channel.eventLoop.makeCompletedFuture { try setUpHTTP2(channel, logger: logger) }
        }.map { Value(negotiated: $0, channel: channel) }
    }

    private func setUpHTTP2(_ channel: any Channel, logger: Logger) throws -> Value.Streams {
        let limits = connections.limits
        var configuration = NIOHTTP2Handler.Configuration()
        configuration.connection.initialSettings = nioDefaultSettings.filter {
            $0.parameter != .maxConcurrentStreams && $0.parameter != .maxHeaderListSize
        }
        // As for HTTP/1.1: a token above 16 KiB gets 431. A head above the limit would end the connection.
        configuration.connection.initialSettings += [
            HTTP2Setting(parameter: .maxConcurrentStreams, value: limits.maxStreams),
            HTTP2Setting(parameter: .maxHeaderListSize, value: 65_536),
        ]
        try channel.pipeline.syncOperations.addHandler(LargeHeadHandler(timeout: TimeAmount(limits.headerTimeout)))
        // Answers to PING, SETTINGS and resets that the client does not read.
        configuration.connection.maximumBufferedControlFrames = 1000
        // No limit of its own for requests in flight at a shutdown: the service's limit counts, as for HTTP/1.1.
        return try channel.pipeline.syncOperations.configureAsyncHTTP2Pipeline(
            mode: .server,
            connectionManagerConfiguration: .init(
                maxIdleTime: TimeAmount(limits.idleTimeout), maxAge: nil, maxGraceTime: nil, keepalive: nil),
            http2HandlerConfiguration: configuration
        ) { [http1] stream in
            stream.eventLoop.makeCompletedFuture {
                let pipeline = stream.pipeline.syncOperations
                try pipeline.addHandler(HTTP2FramePayloadToHTTPServerCodec())
                try pipeline.addHandlers(http1.configuration.additionalChannelHandlers())
                try pipeline.addHandler(HTTPConnectionStateHandler(logger: logger))
                return AcceptedChannel(try HTTP1Channel.Value(wrappingChannelSynchronously: stream))
            }
        }
    }

    /// Handling does not depend on the certificate that the connection began with.
    func handle(value: Value, logger: Logger) async {
        do {
            switch try await value.negotiated.get() {
            case .http1_1(let connection): await connection.handle(by: http1, logger: logger)
            case .http2(let streams):
                try await withThrowingDiscardingTaskGroup { group in
                    for try await stream in streams.inbound {
                        // A stream is a connection with one request.
                        group.addTask { [http1] in await stream.handle(by: http1, logger: logger) }
                    }
                }
            }
        } catch {
            logger.debug("A connection ended with an error", metadata: ["type": "\(type(of: error))"])
        }
    }
}
