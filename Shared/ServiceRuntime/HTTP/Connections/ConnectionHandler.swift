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

/// How far a connection has come, and until when it may stay so. A value that does nothing by itself;
/// ``ConnectionHandler`` closes.
struct ConnectionClock {
    enum Phase: Equatable {
        /// TLS is being agreed on.
        case handshake
        /// There is no request.
        case idle
        /// Some bytes of a request's head have come (HTTP/1.1).
        case head
        /// So many requests are being read or answered.
        case busy(Int)
    }

    private let handshakeTimeout: TimeAmount
    private let headerTimeout: TimeAmount
    private let idleTimeout: TimeAmount
    private let goAwayGrace: TimeAmount

    private(set) var phase: Phase
    private(set) var since: NIODeadline
    private(set) var isHTTP2 = false

    init(limits: HTTPLimits, isTLS: Bool, now: NIODeadline) {
        handshakeTimeout = TimeAmount(limits.handshakeTimeout)
        headerTimeout = TimeAmount(limits.headerTimeout)
        idleTimeout = TimeAmount(limits.idleTimeout)
        goAwayGrace = TimeAmount(limits.goAwayGrace)
        phase = isTLS ? .handshake : .idle
        since = now
    }

    var isBusy: Bool {
        if case .busy = phase { return true }
        return false
    }

    /// When the connection is to be looked at again.
    var deadline: NIODeadline {
        switch phase {
        case .handshake: since + handshakeTimeout
        case .head: since + headerTimeout
        case .busy: since + idleTimeout
        // Hummingbird says goodbye to an idle HTTP/2 connection, and waits for the answer without an end.
        case .idle: since + idleTimeout + (isHTTP2 ? goAwayGrace : .zero)
        }
    }

    /// Why the connection is to be closed at its deadline; `nil` while it has requests.
    var reason: HTTPConnections.Reason? {
        switch phase {
        case .handshake: .handshake
        case .head: .header
        case .idle: .idle
        case .busy: nil
        }
    }

    mutating func handshakeCompleted(isHTTP2: Bool, now: NIODeadline) {
        guard phase == .handshake else { return }
        self.isHTTP2 = isHTTP2
        enter(.idle, now)
    }

    /// Bytes came. By HTTP/2 they can be of any kind; a request is told by its stream.
    mutating func bytesRead(now: NIODeadline) {
        if phase == .idle, !isHTTP2 { enter(.head, now) }
    }

    /// Something was written. Where no request was told of, one was answered by another handler.
    mutating func wrote(now: NIODeadline) {
        if phase == .head { enter(.idle, now) }
    }

    /// - Returns: whether it is the first.
    mutating func requestBegan(now: NIODeadline) -> Bool {
        guard case .busy(let count) = phase else {
            enter(.busy(1), now)
            return true
        }
        phase = .busy(count + 1)
        return false
    }

    /// - Returns: whether it was the last.
    mutating func requestEnded(now: NIODeadline) -> Bool {
        guard case .busy(let count) = phase else { return false }
        if count > 1 {
            phase = .busy(count - 1)
            return false
        }
        enter(.idle, now)
        return true
    }

    /// A look at a busy connection has shown that it makes progress.
    mutating func lookedAt(now: NIODeadline) { since = now }

    private mutating func enter(_ phase: Phase, _ now: NIODeadline) {
        self.phase = phase
        since = now
    }
}
