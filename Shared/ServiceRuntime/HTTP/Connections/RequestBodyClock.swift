import NIOCore

/// How much of a request's body has come, and until when the next part must. A value that does nothing by itself.
struct RequestBodyClock {
    private let bodyTimeout: TimeAmount
    private let drainTimeout: TimeAmount
    private let maxDrainedBytes: Int

    /// The head has come, and the end of the body has not.
    private(set) var isOpen = false
    /// The request is answered: the rest of its body is read for nothing.
    private(set) var isDraining = false
    /// Whether the service waits for more. While it does not, nothing can come.
    private(set) var isReadWanted = false
    private var pausedSince = NIODeadline.uptimeNanoseconds(0)
    private var progress = NIODeadline.uptimeNanoseconds(0)
    private var drainSince = NIODeadline.uptimeNanoseconds(0)
    /// Of the declared length, what has not come; `nil` for a chunked body.
    private var left: Int?
    private var drained = 0

    init(limits: HTTPLimits) {
        bodyTimeout = TimeAmount(limits.bodyTimeout)
        drainTimeout = TimeAmount(limits.drainTimeout)
        maxDrainedBytes = limits.maxDrainedBytes
    }

    /// When the request is to be looked at again.
    var deadline: NIODeadline { isDraining ? drainSince + drainTimeout : progress + bodyTimeout }

    var hasDrainedTooMuch: Bool { isDraining && drained > maxDrainedBytes }

    /// Whether more is announced than is drained after an answer.
    var isTooLongToDrain: Bool { isOpen && left.map { $0 > maxDrainedBytes } ?? false }

    mutating func began(length: Int?, now: NIODeadline) {
        isOpen = true
        isDraining = false
        left = length
        drained = 0
        progress = now
    }

    mutating func received(_ bytes: Int, now: NIODeadline) {
        progress = now
        left = left.map { max(0, $0 - bytes) }
        if isDraining { drained += bytes }
    }

    mutating func ended() {
        isOpen = false
        isDraining = false
    }

    /// The request is answered before its body has ended.
    mutating func refused(now: NIODeadline) {
        isDraining = true
        drainSince = now
    }

    /// The service asks for more. While it did not, time did not count; bytes that bring nothing of the body (a chunk's
    /// size, drop by drop) do not renew the deadline.
    mutating func wantsRead(now: NIODeadline) {
        guard !isReadWanted else { return }
        isReadWanted = true
        progress = min(now, progress + (now - max(pausedSince, progress)))
    }

    /// What has come is handed on.
    mutating func readCompleted(now: NIODeadline) {
        isReadWanted = false
        pausedSince = now
    }

    mutating func progressed(now: NIODeadline) { progress = now }
}
