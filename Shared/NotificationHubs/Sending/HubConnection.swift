import NIOCore
import NIOTLS
import SecurePushCore

/// One HTTP/1.1 connection to the hub with at most one request under way. Lives on its channel's event loop.
final class HubConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let lane: HubLane
    private var context: ChannelHandlerContext?
    private var parser = HubAnswerParser()
    /// The next request's bytes, filled in by the lane. One memory for all requests: each is written out before its
    /// answer comes.
    var output = ByteBuffer()
    private var failure: String?
    private(set) var current: HubSend?

    /// Until then nothing of a request leaves this process.
    private var awaitsHandshake: Bool

    init(lane: HubLane, usesTLS: Bool) {
        self.lane = lane
        awaitsHandshake = usesTLS
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    /// Whether the channel can still carry a request.
    var isActive: Bool { context?.channel.isActive ?? false }

    /// Sends what is in ``output``; the connection must be idle. The lane is told how it ended.
    func start(_ send: HubSend) {
        current = send
        guard let context else {
            return end(.notSent(reason: "the connection to the hub is closed"), .connection)
        }
        // Written from this handler towards the network; a failed write shows as a closed channel.
        context.writeAndFlush(wrapOutboundOut(output), promise: nil)
    }

    /// Gives up what is under way and closes.
    func fail(_ reason: String, _ end: HubRequestEnd = .connection) {
        failure = failure ?? reason
        self.end(awaitsHandshake ? .notSent(reason: reason) : .unanswered(reason: reason), end)
        context?.close(promise: nil)
    }

    private func end(_ outcome: SendOutcome, _ end: HubRequestEnd) {
        guard let send = current else { return }
        current = nil
        lane.finished(send, outcome, end, on: self, isReusable: false)
    }

    func close() { context?.close(promise: nil) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard current != nil else {
            // Nothing was asked: an answer to a request that was given up, or a peer that is no hub.
            return context.close(promise: nil)
        }
        do {
            if let answer = try parser.consume(unwrapInboundIn(data)) { finish(answer) }
        } catch {
            fail("unreadable answer: \(error.reason)")
        }
    }

    private func finish(_ answer: HubAnswer) {
        guard let send = current else { return }
        current = nil
        let isReusable = answer.keepsAlive && !parser.hasLeftover && failure == nil
        lane.answered(send, answer, on: self, isReusable: isReusable)
        if !isReusable { context?.close(promise: nil) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { awaitsHandshake = false }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The kind of error only: what a TLS or socket error says may hold addresses, and is logged by the lane.
        lane.connectionBroke(error)
        fail("the connection to the hub broke (\(type(of: error)))")
    }

    func channelInactive(context: ChannelHandlerContext) {
        if let answer = parser.finish() { finish(answer) }
        fail(parser.hasBegun ? "the hub closed the connection within its answer" : "the hub closed the connection")
        lane.closed(self)
        context.fireChannelInactive()
    }
}
