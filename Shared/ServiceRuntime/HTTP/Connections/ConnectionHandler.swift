import NIOCore
import NIOTLS

/// Enforces the deadlines of one connection. Its place is where the bytes are plain: first, or after TLS.
final class ConnectionHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    /// Whether the connection is above the limit and may only use the paths of operators.
    let isRestricted: Bool
    let connections: HTTPConnections
    private let id: ConnectionBook.ID
    private var clock: ConnectionClock
    private var context: ChannelHandlerContext?
    private var wakeUp: (task: Scheduled<Void>, at: NIODeadline)?
    /// At the last check: the writes so far, and the bytes that the client had not read.
    private var lastCheck: (writes: Int, pending: Int) = (0, 0)
    private var writes = 0
    private var isEnding = false

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
        clock.bytesRead(now: .now())
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most heads are complete by now, and their requests have begun.
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
}

/// The phase of a connection and the deadline of that phase. A value without side effects: ``ConnectionHandler``
/// closes the connection.
struct ConnectionClock {
    enum Phase: Equatable {
        /// The TLS handshake.
        case handshake
        /// No request is in flight.
        case idle
        /// Some bytes of a request's head have arrived (HTTP/1.1).
        case head
        /// This number of requests are being read or answered.
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

    /// When to check the connection again.
    var deadline: NIODeadline {
        switch phase {
        case .handshake: since + handshakeTimeout
        case .head: since + headerTimeout
        case .busy: since + idleTimeout
        // Hummingbird sends GOAWAY on an idle HTTP/2 connection, and waits for the answer without a limit.
        case .idle: since + idleTimeout + (isHTTP2 ? goAwayGrace : .zero)
        }
    }

    /// The reason for closing the connection at its deadline; `nil` while it has requests.
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

    /// Bytes arrived. In HTTP/2 they can be anything, and each stream reports its own request.
    mutating func bytesRead(now: NIODeadline) {
        if phase == .idle, !isHTTP2 { enter(.head, now) }
    }

    /// Something was written. In the phase `head`, another handler has answered the request.
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

    /// A check of a busy connection has shown progress.
    mutating func madeProgress(now: NIODeadline) { since = now }

    private mutating func enter(_ phase: Phase, _ now: NIODeadline) {
        self.phase = phase
        since = now
    }
}
