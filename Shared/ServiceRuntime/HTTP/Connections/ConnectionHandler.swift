import NIOCore
import NIOTLS

/// Enforces the deadlines of one connection. Its place is where the bytes are plain: first, or after TLS.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Whether the connection is above the limit and may only use the paths of operators.
    let isRestricted: Bool
    let connections: HTTPConnections
    /// The open HTTP/2 streams.
    var streams = 0
    private let id: ConnectionTable.ID
    private var clock: ConnectionClock
    private var context: ChannelHandlerContext?
    private var wakeUp: (task: Scheduled<Void>, at: NIODeadline)?
    /// At the last check: the writes so far, and the bytes that the client had not read.
    private var lastCheck: (writes: Int, pending: Int) = (0, 0)
    private var writes = 0
    private var isEnding = false
    /// Nothing more is read.
    private var isClosing = false
    private var frames: FrameMeter
    /// The bytes of answers that are not sent yet, as their handlers count them, with the memory overhead of each.
    private var unsentBytes = 0
    /// The last number that ``HTTPConnections`` was told.
    private var notedBytes = 0
    private var writtenBytes = 0
    private var slowCheck: Scheduled<Void>?

    init(_ connections: HTTPConnections, id: ConnectionTable.ID, isRestricted: Bool, isTLS: Bool) {
        self.connections = connections
        self.id = id
        self.isRestricted = isRestricted
        clock = ConnectionClock(limits: connections.limits, isTLS: isTLS, now: .now())
        frames = FrameMeter(now: .now())
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        schedule()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        wakeUp?.task.cancel()
        wakeUp = nil
        slowCheck?.cancel()
        slowCheck = nil
        self.context = nil
    }

    // MARK: Calls of RequestHandler and DirectRouteHandler

    /// Whether the next request may be answered by a direct route: none is in flight, and the router has not refused
    /// the connection.
    var takesDirectRequests: Bool { !isRestricted && !isEnding && !clock.isBusy }

    /// The response that was written is the connection's last one.
    func takesNoMoreRequests() { isEnding = true }

    func requestBegan() {
        guard clock.requestBegan(now: .now()) else { return }
        lastCheck = (writes, 0)
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
        let now = NIODeadline.now()
        clock.bytesRead(now: now)
        if clock.isHTTP2, !isClosing, !frames.received(unwrapInboundIn(data), now: now) { return refuseFrames(context) }
        if !isClosing { context.fireChannelRead(data) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most heads are complete by now, and their requests have begun.
        schedule()
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let bytes = unwrapOutboundIn(data).readableBytes
        writes &+= 1
        writtenBytes &+= bytes
        clock.wrote(now: .now())
        if clock.isHTTP2 { frames.sent(bytes) }
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
            // It gets GOAWAY, and one second to answer.
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

    /// Wakes up at the deadline, or earlier if an earlier wake-up is scheduled already.
    private func schedule() {
        guard let context else { return }
        let deadline = clock.deadline
        if let wakeUp {
            if wakeUp.at <= deadline { return }
            wakeUp.task.cancel()
        }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        wakeUp = (context.eventLoop.scheduleTask(deadline: deadline) { handler.value.check() }, deadline)
    }

    private func check() {
        wakeUp = nil
        let now = NIODeadline.now()
        guard now >= clock.deadline else { return schedule() }
        let pending = unreadBytes
        // The request may have ended while its client is still reading the answer.
        if let reason = clock.reason, reason != .idle || pending == 0 { return close(reason) }
        if pending > 0, (writes, pending) == lastCheck { return close(.write) }
        lastCheck = (writes, pending)
        clock.madeProgress(now: now)
        schedule()
    }

    private var unreadBytes: Int {
        (try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
    }

    private func refuseFrames(_ context: ChannelHandlerContext) {
        isClosing = true
        connections.count(.frames)
        // TLS waits 5 s for the client's end, and would decrypt all that comes until then.
        try? context.channel.syncOptions?.setOption(.autoRead, value: false)
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: FrameMeter.goAway)), promise: nil)
        context.close(promise: nil)
    }

    // MARK: Answers that the client does not read

    /// What an answer needs beside its bytes: its stream, its task and its buffers.
    private static let answerBytes = 16 * 1024

    /// A handler of requests writes an answer, or a part of one. Call ``sent(_:isEnd:)`` when it has left.
    func willSend(_ bytes: Int, isEnd: Bool) { unsentBytes += bytes + (isEnd ? Self.answerBytes : 0) }

    /// An answer, or a part of one, has left the process or will never do so.
    func sent(_ bytes: Int, isEnd: Bool) {
        unsentBytes -= bytes + (isEnd ? Self.answerBytes : 0)
        if notedBytes > 0 { noteUnsent() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        noteUnsent()
        context.fireChannelWritabilityChanged()
    }

    /// Call it when written answers have been flushed: those that have not left then wait for the client.
    func noteUnsent() {
        guard unsentBytes > 0 || notedBytes > 0 || context?.channel.isWritable == false else { return }
        let bytes = waitingBytes
        // Small changes do not matter, and the lock is shared by all connections.
        guard abs(bytes - notedBytes) >= Self.answerBytes || (bytes == 0 && notedBytes > 0) else { return }
        notedBytes = bytes
        connections.noteUnsent(bytes, of: id)
        if bytes > connections.limits.maxUnsentBytes, slowCheck == nil { watchSlowReader() }
    }

    private var waitingBytes: Int { max(0, unsentBytes, unreadBytes) }

    /// Closes the connection if too much still waits after some seconds, and hardly anything was taken meanwhile.
    private func watchSlowReader() {
        guard let context else { return }
        let taken = writtenBytes &- unreadBytes
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        slowCheck = context.eventLoop.scheduleTask(in: TimeAmount(connections.limits.slowReaderTimeout)) {
            let handler = handler.value
            handler.slowCheck = nil
            guard handler.waitingBytes > handler.connections.limits.maxUnsentBytes else { return }
            if (handler.writtenBytes &- handler.unreadBytes) &- taken < Self.minTakenBytes {
                return handler.close(.write)
            }
            handler.watchSlowReader()
        }
    }

    /// Within ``HTTPLimits/slowReaderTimeout``: the kernel takes more than this at once.
    private static let minTakenBytes = 4096
}
