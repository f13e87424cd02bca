import NIOCore
import NIOPosix
import NIOSSL
import OutgoingHTTP

/// Checks a service through its `/livez`, for container health checks without a shell or curl.
struct HealthProbe: Sendable, Hashable {
    let host: String
    let port: Int
    let usesTLS: Bool

    static let deadline = TimeAmount.seconds(2)

    init(host: String, port: Int, usesTLS: Bool) {
        self.host = HealthProbe.loopback(for: host)
        self.port = port
        self.usesTLS = usesTLS
    }

    /// A service that listens on every interface is checked on the loopback interface.
    private static func loopback(for host: String) -> String {
        switch host {
        case "0.0.0.0", "": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }

    /// `nil` if the service is healthy, else the reason.
    func run() async -> String? {
        do {
            let status = try await statusLine()
            return status.hasPrefix("HTTP/1.1 200") ? nil : "/livez answered \(status)"
        } catch {
            return "no answer from \(host):\(port) within 2 s"
        }
    }

    private func statusLine() async throws -> String {
        let group = MultiThreadedEventLoopGroup.singleton
        let promise = group.next().makePromise(of: String.self)
        let tls = try tlsContext()
        let timeout = group.next().scheduleTask(in: HealthProbe.deadline) {
            promise.fail(ChannelError.connectTimeout(HealthProbe.deadline))
        }
        defer { timeout.cancel() }
        ClientBootstrap(group: group).connectTimeout(HealthProbe.deadline)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        let handler = try NIOSSLClientHandler(context: tls, serverHostname: nil)
                        try channel.pipeline.syncOperations.addHandler(handler)
                    }
                    try channel.pipeline.syncOperations.addHandler(StatusLineHandler(host: host, promise: promise))
                }
            }
            .connect(host: host, port: port).cascadeFailure(to: promise)
        return try await promise.futureResult.get()
    }

    /// Without verification: the connection is over loopback, and the certificate is for another name.
    private func tlsContext() throws -> NIOSSLContext? {
        guard usesTLS else { return nil }
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        configuration.verifySignatureAlgorithms = OutgoingTLS.signatureAlgorithms
        configuration.applicationProtocols = ["http/1.1"]
        return try NIOSSLContext(configuration: configuration)
    }
}

/// Sends the request and reads the first line of the answer.
private final class StatusLineHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let host: String
    private let promise: EventLoopPromise<String>
    private var received = ""

    init(host: String, promise: EventLoopPromise<String>) {
        self.host = host
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        let name = host.contains(":") ? "[\(host)]" : host
        let request = "GET /livez HTTP/1.1\r\nHost: \(name)\r\nConnection: close\r\n\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard let end = received.firstIndex(where: \.isNewline) else { return }
        promise.succeed(String(received[..<end]))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(ChannelError.eof)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}
