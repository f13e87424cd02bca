import NIOCore
import NIOHTTP1

/// Answers plain native sends on the event loop that read them, and hands every other request on unchanged.
///
/// It stands between the HTTP decoder and Hummingbird, which makes a task's work of each request. A request is
/// collected here only when no earlier one waits for its answer, so answers keep their order; what turns out to be
/// no plain send is replayed to the routes as it came.
final class FastSendHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private struct Collected {
        let head: HTTPRequestHead
        let send: FastSendHead
        let start: NIODeadline
        var body = ByteBuffer()
    }

    private let fastSend: FastSend
    /// Hummingbird closes a connection on which it has seen no request for long: it gets one after this time.
    private let patience: TimeAmount
    private var lastOrdinary = NIODeadline.now()
    private var collected: Collected?
    /// Requests that the routes have not answered yet.
    private var unanswered = 0
    /// Answers of this read, written at once at its end.
    private var answers = ByteBuffer()
    /// Whether the connection ends after what the routes have: nothing that follows is answered.
    private var isClosing = false
    private var isReadHeld = false
    /// Answers are bytes already: they go out behind the encoder.
    private var encoder: ChannelHandlerContext?

    init(_ fastSend: FastSend, patience: TimeAmount) {
        self.fastSend = fastSend
        self.patience = patience
    }

    func handlerAdded(context: ChannelHandlerContext) {
        encoder = try? context.pipeline.syncOperations.context(handlerType: HTTPResponseEncoder.self)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        encoder = nil
        collected = nil
    }

    // MARK: Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            let now = NIODeadline.now()
            if unanswered == 0, !isClosing, encoder != nil, now - lastOrdinary < patience, fastSend.isOpen,
                let send = FastSendHead(head, reserved: fastSend.reserved)
            {
                collected = Collected(head: head, send: send, start: now)
            } else {
                lastOrdinary = now
                forward(head, context)
            }
        case .body(var part):
            guard collected != nil else { return context.fireChannelRead(data) }
            if collected?.body.readableBytes == 0 {
                collected?.body = part
            } else {
                collected?.body.writeBuffer(&part)
            }
        case .end(let trailers):
            guard let request = collected.take() else { return context.fireChannelRead(data) }
            let body = Array(request.body.readableBytesView)
            if trailers == nil, fastSend.take(request.send, body: body, start: request.start, into: &answers) { return }
            lastOrdinary = request.start
            replay(request, context)
            context.fireChannelRead(data)
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        writeAnswers()
        context.fireChannelReadComplete()
    }

    private func forward(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        writeAnswers()
        unanswered += 1
        isClosing = isClosing || !head.isKeepAlive
        context.fireChannelRead(wrapInboundOut(.head(head)))
    }

    private func replay(_ request: Collected, _ context: ChannelHandlerContext) {
        forward(request.head, context)
        if request.body.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(.body(request.body))) }
    }

    /// What happens in the middle of a request is for the routes to deal with: they get what there is of it.
    private func giveUp(_ context: ChannelHandlerContext) {
        isClosing = true
        if let request = collected.take() { replay(request, context) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        giveUp(context)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        giveUp(context)
        writeAnswers()
        context.fireErrorCaught(error)
    }

    /// Among others the end of the client's bytes, and the wish to shut down.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        giveUp(context)
        writeAnswers()
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Answers

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data), unanswered > 0 { unanswered -= 1 }
        context.write(data, promise: promise)
    }

    private func writeAnswers() {
        guard answers.readableBytes > 0 else { return }
        encoder?.writeAndFlush(NIOAny(IOData.byteBuffer(answers)), promise: nil)
        answers.clear()
    }

    // MARK: Back-pressure

    /// A client that does not read its answers is not read either.
    func read(context: ChannelHandlerContext) {
        guard unanswered == 0, !context.channel.isWritable else { return context.read() }
        isReadHeld = true
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if isReadHeld, context.channel.isWritable {
            isReadHeld = false
            context.read()
        }
        context.fireChannelWritabilityChanged()
    }
}
