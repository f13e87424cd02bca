package import NIOCore
import ServiceConfiguration

/// Why a proxy did not connect this process with a server. Nothing was sent to the server.
package struct ProxyError: Error, CustomStringConvertible {
    /// One sentence part, with the proxy's host and port, without its credentials.
    package let reason: String

    package init(reason: String) { self.reason = reason }

    package var description: String { reason }
}

/// Asks a proxy for a tunnel to a server (RFC 9110, section 9.3.6), and then leaves the pipeline.
///
/// The handler of NIOExtras does not tell the status of a refusal, which operators need: 407 is about the credentials,
/// 403 about the proxy's rules, 502 about the network behind it.
package final class ProxyTunnel: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    /// The maximum size of the proxy's response head, in bytes.
    package static let maxHead = 16_384

    private let proxy: OutgoingProxy
    private let authority: String
    private let deadline: NIODeadline
    private let opened: EventLoopPromise<Void>
    private var received = ByteBuffer()
    private var timer: Scheduled<Void>?
    private var isDone = false

    private init(
        _ proxy: OutgoingProxy, to host: String, port: Int, deadline: NIODeadline, opened: EventLoopPromise<Void>
    ) {
        self.proxy = proxy
        self.deadline = deadline
        self.opened = opened
        authority = "\(host.utf8.contains(0x3A) ? "[\(host)]" : host):\(port)"
    }

    /// Opens a tunnel. To be called on the channel's event loop.
    ///
    /// - Parameters:
    ///   - channel: connected to the proxy; it has no handlers.
    ///   - host: the server's name or address, without brackets.
    ///   - deadline: for the proxy's response.
    /// - Returns: succeeds when the channel's next bytes go to the server; fails with a ``ProxyError``, and the channel
    ///   is closed then.
    package static func open(
        on channel: any Channel, through proxy: OutgoingProxy, to host: String, port: Int, deadline: NIODeadline
    ) -> EventLoopFuture<Void> {
        let opened = channel.eventLoop.makePromise(of: Void.self)
        do {
            try channel.pipeline.syncOperations.addHandler(
                ProxyTunnel(proxy, to: host, port: port, deadline: deadline, opened: opened))
        } catch {
            opened.fail(error)
            channel.close(promise: nil)
        }
        return opened.futureResult
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) {
            self.fail("did not answer in time", channel)
        }
        let credentials = proxy.basicCredentials.map { "Proxy-Authorization: Basic \($0)\r\n" } ?? ""
        let request = "CONNECT \(authority) HTTP/1.1\r\nHost: \(authority)\r\n\(credentials)\r\n"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request)), promise: nil)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        received.writeImmutableBuffer(unwrapInboundIn(data))
        let bytes = received.readableBytesView
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else {
            if received.readableBytes > Self.maxHead { fail("did not answer as an HTTP proxy", context.channel) }
            return
        }
        guard let status = Self.status(bytes) else { return fail("did not answer as an HTTP proxy", context.channel) }
        guard (200..<300).contains(status) else {
            let hint = status == 407 ? ": it wants other credentials" : ""
            return fail("refused the connection to \(authority) (status \(status)\(hint))", context.channel)
        }
        // In TLS the client speaks first, so the server cannot have sent anything yet.
        guard end.upperBound == bytes.endIndex else {
            return fail("did not answer as an HTTP proxy", context.channel)
        }
        finish()
        context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
        opened.succeed()
    }

    package func channelInactive(context: ChannelHandlerContext) {
        fail("closed the connection", context.channel)
        context.fireChannelInactive()
    }

    package func errorCaught(context: ChannelHandlerContext, error: any Error) {
        fail("broke the connection", context.channel)
    }

    /// The code of `HTTP/1.1 200 Connection established`.
    private static func status(_ head: ByteBufferView) -> Int? {
        let line = head.prefix { $0 != UInt8(ascii: "\r") }
        let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
        guard line.starts(with: "HTTP/1.".utf8), words.count >= 2, words[1].count == 3 else { return nil }
        return Int(String(decoding: words[1], as: UTF8.self))
    }

    private func finish() {
        isDone = true
        timer?.cancel()
        timer = nil
    }

    private func fail(_ problem: String, _ channel: any Channel) {
        guard !isDone else { return }
        finish()
        opened.fail(ProxyError(reason: "the proxy \(proxy) \(problem)"))
        channel.close(promise: nil)
    }
}
