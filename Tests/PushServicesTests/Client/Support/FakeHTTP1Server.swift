import NIOCore
import NIOSSL
import Synchronization

/// A server of HTTP/1.1 that records requests byte for byte, and writes what a test says.
final class FakeHTTP1Server: Sendable {
    enum Step: Sendable {
        case write(String)
        case close
    }

    struct Request: Sendable {
        /// From 0, among all connections.
        let connection: Int
        let text: String
    }

    typealias Script = @Sendable (Request) -> [Step]

    fileprivate struct Record: Sendable {
        var requests: [Request] = []
        var channels: [any Channel] = []
        var openConnections = 0
    }

    fileprivate let record = Mutex(Record())
    fileprivate let script: Script
    private let listener = Mutex<(any Channel)?>(nil)

    private init(_ script: @escaping Script) { self.script = script }

    /// Runs a server for the time of `body`.
    ///
    /// - Parameter protocols: what it takes in ALPN; with none it does not know the choice.
    static func with<Value>(
        _ certificate: PushCertificate, protocols: [String] = ["http/1.1"], _ script: @escaping Script,
        _ body: (FakeHTTP1Server) async throws -> Value
    ) async throws -> Value {
        let server = FakeHTTP1Server(script)
        let tls = try certificate.context(protocols)
        return try await FakeListener.with { channel in
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
            try channel.pipeline.syncOperations.addHandler(FakeHTTP1Handler(server: server))
        } connections: {
            server.record.withLock { $0.channels }
        } run: { listener in
            server.listener.withLock { $0 = listener }
            return try await body(server)
        }
    }

    var port: Int { listener.withLock { $0 }?.localAddress?.port ?? 0 }
    var requests: [Request] { record.withLock { $0.requests } }
    var connections: Int { record.withLock { $0.channels.count } }
    var openConnections: Int { record.withLock { $0.openConnections } }

    /// Writes something to a connection.
    func write(_ text: String, connection: Int) {
        let channel = record.withLock { $0.channels[connection] }
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
    }
}

private final class FakeHTTP1Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let server: FakeHTTP1Server
    private var connection = 0
    private var received = ""

    init(server: FakeHTTP1Server) { self.server = server }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        connection = server.record.withLock { record in
            record.channels.append(channel)
            record.openConnections += 1
            return record.channels.count - 1
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        server.record.withLock { $0.openConnections -= 1 }
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        guard let head = received.firstRange(of: "\r\n\r\n"),
            let field = received.firstRange(of: "content-length: "), field.upperBound < head.lowerBound,
            let length = Int(received[field.upperBound...].prefix { $0.isNumber }),
            received[head.upperBound...].utf8.count >= length
        else { return }
        let request = FakeHTTP1Server.Request(connection: connection, text: received)
        received = ""
        server.record.withLock { $0.requests.append(request) }
        for step in server.script(request) {
            switch step {
            case .write(let text): context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            case .close: context.close(promise: nil)
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
