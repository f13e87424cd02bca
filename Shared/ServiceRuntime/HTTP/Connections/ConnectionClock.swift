import NIOCore

/// The phase of a connection and the deadline of that phase. A value without side effects: ``ConnectionHandler``
/// closes the connection.
struct ConnectionClock {
    enum Phase: Equatable {
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
