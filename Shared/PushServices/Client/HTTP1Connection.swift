import NIOCore
import NIOHTTP1

/// A connection of HTTP/1.1 with at most one request in flight. It comes behind the handlers of NIOHTTP1.
final class HTTP1Connection: ChannelInboundHandler, PushConnection {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let number: Int
    private let owner: any PushConnectionOwner
    private var context: ChannelHandlerContext?
    private var current: PushSend?
    private var collector = PushResponseCollector()
    private var keepsAlive = true
    private var hasLeft = false
    private var wasUseful = false

    init(dial: PushDial) {
        number = dial.number
        owner = dial.owner
    }

    /// The bounds of the decoder in front of this handler.
    static var limits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = PushResponseCollector.maxHead
        limits.maxHeaderListSize = PushResponseCollector.maxHead
        limits.maxHeaderFieldCount = 128
        return limits
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func start(_ send: PushSend) {
        guard let context, context.channel.isActive else {
            owner.notProcessed(send, reason: "the connection is closed", on: number)
            return
        }
        current = send
        collector = PushResponseCollector()
        let request = send.request
        var headers = HTTPHeaders()
        headers.reserveCapacity(request.headers.count + 2)
        headers.add(name: "host", value: request.origin.authority)
        for field in request.headers { headers.add(name: field.name, value: field.value) }
        headers.add(name: "content-length", value: "\(request.body.count)")
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: request.path, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: request.body)))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func flush() { context?.flush() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            keepsAlive = head.isKeepAlive
            let headers = head.headers.map { (name: $0.name.lowercased(), value: $0.value) }
            wasUseful = collector.begin(status: Int(head.status.code), headers: headers) || wasUseful
        case .body(let bytes):
            if !collector.append(bytes.readableBytesView) { end("the answer has no head") }
        case .end:
            guard keepsAlive, !hasLeft, collector.response != nil else { return end("the answer has no head") }
            finish("")
            owner.ended(on: number)
        }
    }

    /// Ends the request in flight: with the answer, as far as it came.
    private func finish(_ reason: String) {
        guard let send = current else { return }
        current = nil
        let response = collector.response.map(PushHTTPResult.success)
        owner.finished(send, response ?? .failure(.unanswered(reason: reason)))
    }

    /// Ends the request in flight, and closes the connection.
    private func end(_ reason: String) {
        if !hasLeft {
            hasLeft = true
            owner.left(number, wasUseful: wasUseful)
        }
        finish(reason)
        context?.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        owner.broke(number, error)
        end("the connection broke")
    }

    func channelInactive(context: ChannelHandlerContext) {
        end("the server closed the connection")
        owner.closed(number)
        context.fireChannelInactive()
    }

    func interrupt(_ number: UInt64, _ interruption: PushInterruption) {
        guard current?.number == number else { return }
        // Nothing is wrong with the server: the next connection may be opened at once.
        wasUseful = true
        end(interruption.reason)
    }

    func check() {}

    func tick(now: NIODeadline) {}

    func retire() {
        if !hasLeft {
            hasLeft = true
            owner.left(number, wasUseful: true)
        }
        if current == nil { context?.close(promise: nil) }
    }
}
