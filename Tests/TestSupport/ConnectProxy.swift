import NIOCore
import NIOPosix
import Synchronization

/// An HTTP proxy that answers `CONNECT` and copies bytes. It connects each tunnel to one target, whatever host the
/// client names, as a proxy in another network would resolve the name.
package final class ConnectProxy: Sendable {
    fileprivate struct Record: Sendable {
        /// The heads of the requests.
        var heads: [String] = []
        /// The first bytes that came through a tunnel.
        var firstBytes: [[UInt8]] = []
        /// The tunnels that ended.
        var closed = 0
    }

    fileprivate let record = Mutex(Record())
    /// The port on this machine where it listens.
    package let port: Int
    private let channel: any Channel

    /// - Parameters:
    ///   - target: the port on this machine that tunnels lead to.
    ///   - response: instead of a tunnel, this answer; an empty one closes the connection.
    package init(to target: Int, response: String? = nil) async throws {
        let box = ProxyBox()
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(
                        ConnectHandler(box: box, target: target, response: response))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
        box.proxy.withLock { $0 = self }
    }

    /// Listens no longer.
    package func stop() async throws { try await channel.close() }

    /// The heads of the requests.
    package var heads: [String] { record.withLock { $0.heads } }
    /// The first bytes that came through each tunnel.
    package var firstBytes: [[UInt8]] { record.withLock { $0.firstBytes } }
    /// The number of tunnels that ended.
    package var closed: Int { record.withLock { $0.closed } }
}

/// Lets the handlers find their proxy, which is made after them.
private final class ProxyBox: Sendable {
    let proxy = Mutex<ConnectProxy?>(nil)
}

private final class ConnectHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let box: ProxyBox
    private let target: Int
    private let response: String?
    private var received = ByteBuffer()

    init(box: ProxyBox, target: Int, response: String?) {
        self.box = box
        self.target = target
        self.response = response
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received.writeImmutableBuffer(unwrapInboundIn(data))
        let text = String(buffer: received)
        guard text.hasSuffix("\r\n\r\n") else { return }
        box.proxy.withLock { $0 }?.record.withLock { $0.heads.append(text) }
        if let response {
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
            if response.isEmpty { context.close(promise: nil) }
            return
        }
        open(context)
    }

    private func open(_ context: ChannelHandlerContext) {
        let (client, box) = (context.channel, box)
        let loop = context.eventLoop
        ClientBootstrap(group: loop).connect(host: "127.0.0.1", port: target).assumeIsolated().whenComplete { result in
            guard case .success(let hub) = result else {
                client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 502 Bad Gateway\r\n\r\n"), promise: nil)
                return
            }
            do {
                try hub.pipeline.syncOperations.addHandler(CopyHandler(to: client, box: nil))
                try client.pipeline.syncOperations.addHandler(CopyHandler(to: hub, box: box))
                client.pipeline.syncOperations.removeHandler(self, promise: nil)
                client.writeAndFlush(ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n"), promise: nil)
            } catch {
                client.close(promise: nil)
            }
        }
    }
}

private final class CopyHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel
    /// Of the client's side of a tunnel.
    private let box: ProxyBox?
    private var isFirst = true

    init(to other: any Channel, box: ProxyBox?) {
        self.other = other
        self.box = box
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        if isFirst {
            isFirst = false
            note { $0.firstBytes.append(Array(bytes.readableBytesView.prefix(3))) }
        }
        other.writeAndFlush(bytes, promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        note { $0.closed += 1 }
        other.close(promise: nil)
    }

    private func note(_ change: (inout ConnectProxy.Record) -> Void) {
        box?.proxy.withLock { $0 }?.record.withLock { change(&$0) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
