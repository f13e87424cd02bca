import NIOCore
import NIOTLS

/// Holds one connection to its deadlines. It stands where the connection's bytes are plain: first, or behind TLS.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// The connection is beyond the limit: only the paths of operators are answered.
    let isRestricted: Bool
    let connections: HTTPConnections
    private let id: ConnectionBook.ID
    private var clock: ConnectionClock
    private var context: ChannelHandlerContext?
    private var wakeUp: (task: Scheduled<Void>, at: NIODeadline)?
    /// What the last look saw: writes so far, and bytes that the client has not taken.
    private var lastLook: (writes: Int, pending: Int) = (0, 0)
    private var writes = 0

    init(_ connections: HTTPConnections, id: ConnectionBook.ID, isRestricted: Bool, isTLS: Bool) {
        self.connections = connections
        self.id = id
        self.isRestricted = isRestricted
        clock = ConnectionClock(limits: connections.limits, isTLS: isTLS, now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        schedule()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        wakeUp?.task.cancel()
        wakeUp = nil
        self.context = nil
    }

    // MARK: What RequestHandler tells

    func requestBegan() {
        guard clock.requestBegan(now: .now()) else { return }
        lastLook = (writes, 0)
        connections.becameBusy(id)
    }

    func requestEnded() {
        guard clock.requestEnded(now: .now()) else { return }
        connections.becameIdle(id)
        schedule()
    }

    func close(_ reason: HTTPConnections.Reason) {
        connections.count(reason)
        context?.close(promise: nil)
    }

    // MARK: Events

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        clock.bytesRead(now: .now())
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most heads are whole by now, and the request has begun.
        schedule()
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        writes &+= 1
        clock.wrote(now: .now())
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is HTTPConnections.Eviction:
            return clock.isBusy ? connections.keep(id) : close(.evicted)
        case TLSUserEvent.handshakeCompleted(let negotiated):
            clock.handshakeCompleted(isHTTP2: negotiated == "h2", now: .now())
            schedule()
        case is ChannelShouldQuiesceEvent where clock.phase == .handshake:
            // There is nothing to finish.
            return context.close(promise: nil)
        case is ChannelShouldQuiesceEvent where clock.isHTTP2 && !clock.isBusy:
            // It gets GOAWAY; its answer is not waited for as long as the drain lasts.
            let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: .seconds(1)) {
                let handler = handler.value
                if !handler.clock.isBusy { handler.context?.close(promise: nil) }
            }
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    // MARK: Deadlines

    /// Wakes up at the deadline, or before it if that is arranged already.
    private func schedule() {
        guard let context else { return }
        let deadline = clock.deadline
        if let wakeUp {
            if wakeUp.at <= deadline { return }
            wakeUp.task.cancel()
        }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        wakeUp = (context.eventLoop.scheduleTask(deadline: deadline) { handler.value.look() }, deadline)
    }

    private func look() {
        wakeUp = nil
        let now = NIODeadline.now()
        guard now >= clock.deadline else { return schedule() }
        let pending = bytesNotTaken
        // An answer may be written as a whole, and its client still be taking it.
        if let reason = clock.reason, reason != .idle || pending == 0 { return close(reason) }
        if pending > 0, (writes, pending) == lastLook { return close(.write) }
        lastLook = (writes, pending)
        clock.lookedAt(now: now)
        schedule()
    }

    private var bytesNotTaken: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }
}
