import NIOCore
import NIOPosix
import NIOSSL
import OutgoingHTTP
import Synchronization

/// An HTTP/2 connection to a port of 127.0.0.1 on which a test sends what no client library would.
final class RawHTTP2: Sendable {
    private let channel: any Channel
    private let received: Received

    /// Sends the preface and SETTINGS.
    ///
    /// - Parameters:
    ///   - window: `SETTINGS_INITIAL_WINDOW_SIZE`: how many bytes of an answer the server may send.
    ///   - authorities: with them the server is verified as all our clients verify servers.
    init(port: Int, window: Int = 65_535, trusting authorities: TrustedAuthorities? = nil) async throws {
        var tls = OutgoingTLS.configuration(trusting: authorities ?? TrustedAuthorities())
        if authorities == nil { tls.certificateVerification = .none }
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let received = Received()
        self.received = received
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(try NIOSSLClientHandler(context: context, serverHostname: "localhost"))
                    try pipeline.addHandler(Collector(received))
                }
            }
            .connect(host: "127.0.0.1", port: port).get()
        channel.closeFuture.whenComplete { _ in received.state.withLock { $0.isClosed = true } }
        let value = withUnsafeBytes(of: UInt32(window).bigEndian) { Array($0) }
        send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, payload: [0, 4] + value))
    }

    deinit { channel.close(promise: nil) }

    static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, payload: [UInt8] = []) -> [UInt8] {
        let count = payload.count
        return [UInt8(count >> 16 & 0xFF), UInt8(count >> 8 & 0xFF), UInt8(count & 0xFF), type, flags]
            + withUnsafeBytes(of: stream.bigEndian) { Array($0) } + payload
    }

    func send(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    /// Sends HEADERS: all fields are literals without indexing (RFC 7541, section 6.2.2).
    func request(
        _ method: String, _ path: String, stream: UInt32, isComplete: Bool = true, fields: [String: String] = [:]
    ) {
        func text(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }
        var block: [UInt8] = [0x87]
        for (name, value) in [(":method", method), (":path", path), (":authority", "localhost")] {
            block += [0] + text(name) + text(value)
        }
        for (name, value) in fields { block += [0] + text(name) + text(value) }
        send(Self.frame(1, flags: isComplete ? 5 : 4, stream: stream, payload: block))
    }

    func data(_ text: String, stream: UInt32, isLast: Bool = false) {
        send(Self.frame(0, flags: isLast ? 1 : 0, stream: stream, payload: Array(text.utf8)))
    }

    var isClosed: Bool { received.state.withLock { $0.isClosed } }

    /// The frames that have come so far.
    var frames: [(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8])] {
        var bytes = received.state.withLock { $0.bytes }[...]
        var frames: [(type: UInt8, flags: UInt8, stream: UInt32, payload: [UInt8])] = []
        while bytes.count >= 9 {
            let head = Array(bytes.prefix(9))
            let count = Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2])
            guard bytes.count >= 9 + count else { break }
            let stream = head[5...8].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            frames.append((head[3], head[4], stream, Array(bytes.dropFirst(9).prefix(count))))
            bytes = bytes.dropFirst(9 + count)
        }
        return frames
    }

    /// The bytes of an answer's body.
    func body(of stream: UInt32) -> String {
        String(decoding: frames.filter { $0.type == 0 && $0.stream == stream }.flatMap(\.payload), as: UTF8.self)
    }

    private final class Received: Sendable {
        let state = Mutex((bytes: [UInt8](), isClosed: false))
    }

    private final class Collector: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let received: Received

        init(_ received: Received) { self.received = received }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            let bytes = unwrapInboundIn(data)
            received.state.withLock { $0.bytes += bytes.readableBytesView }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
