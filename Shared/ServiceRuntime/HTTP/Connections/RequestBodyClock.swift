import NIOCore

/// The progress of a request's body, and its deadlines: of its next part, and as a whole. A value without side effects.
///
/// A body whose declared length is small has one deadline. Every other one may take as long as it brings enough bytes
/// per second; bytes that came faster do not let it wait for longer than for a next part. A streamed body, whose route
/// has a clock of its own, has only a deadline of its next part.
struct RequestBodyClock {
    private let limits: HTTPLimits
    private let bodyTimeout: TimeAmount
    private let streamTimeout: TimeAmount
    private let wholeTimeout: TimeAmount
    private let drainTimeout: TimeAmount
    private let maxDrainedBytes: Int

    /// The head has arrived, and the end of the body has not.
    private(set) var isOpen = false
    /// The request is answered; the rest of its body is discarded.
    private(set) var isDraining = false
    /// Whether the service waits for more. While it does not, nothing can arrive.
    private(set) var isReadWanted = false
    private var pausedSince = NIODeadline.uptimeNanoseconds(0)
    private var progress = NIODeadline.uptimeNanoseconds(0)
    private var drainSince = NIODeadline.uptimeNanoseconds(0)
    /// When the head arrived, later by the time in which the service did not read.
    private var start = NIODeadline.uptimeNanoseconds(0)
    /// The time that fast bytes would have earned.
    private var forfeited = TimeAmount.nanoseconds(0)
    private var isSmall = false
    private var isStreamed = false
    private var receivedBytes: Int64 = 0
    /// The bytes of the declared length that have not arrived; `nil` for a chunked body.
    private var left: Int?
    private var drained = 0

    init(limits: HTTPLimits) {
        self.limits = limits
        bodyTimeout = TimeAmount(limits.bodyTimeout)
        streamTimeout = TimeAmount(limits.streamTimeout)
        wholeTimeout = TimeAmount(limits.smallBodyTimeout)
        drainTimeout = TimeAmount(limits.drainTimeout)
        maxDrainedBytes = limits.maxDrainedBytes
    }

    /// When to check the request again.
    var deadline: NIODeadline {
        if isDraining { return drainSince + drainTimeout }
        if isStreamed { return progress + streamTimeout }
        return min(progress + bodyTimeout, wholeDeadline)
    }

    private var wholeDeadline: NIODeadline { start + whole - forfeited }

    /// The time for the body as a whole, as far as it has arrived.
    private var whole: TimeAmount {
        if isSmall { return wholeTimeout }
        let seconds = receivedBytes / Int64(max(1, limits.minBodyBytesPerSecond))
        return max(wholeTimeout, .seconds(min(seconds, 1 << 30)))
    }

    var hasDrainedTooMuch: Bool { isDraining && drained > maxDrainedBytes }

    /// Whether the rest of the body is longer than the maximum that is read after an answer.
    var isTooLongToDrain: Bool { isOpen && left.map { $0 > maxDrainedBytes } ?? false }

    /// - Parameters:
    ///   - length: the declared one; `nil` for a chunked body.
    ///   - isStreamed: whether its route has a clock of its own.
    mutating func began(length: Int?, isStreamed: Bool = false, now: NIODeadline) {
        isOpen = true
        isDraining = false
        left = length
        drained = 0
        progress = now
        start = now
        isSmall = length.map { $0 <= limits.maxSmallBody } ?? false
        self.isStreamed = isStreamed
        receivedBytes = 0
        forfeited = .nanoseconds(0)
    }

    mutating func received(_ bytes: Int, now: NIODeadline) {
        progress = now
        receivedBytes += Int64(bytes)
        // Otherwise most of a body, sent at once, would keep its memory for half an hour.
        let tooLate = wholeDeadline - (now + max(bodyTimeout, wholeTimeout))
        forfeited = forfeited + max(.nanoseconds(0), tooLate)
        left = left.map { max(0, $0 - bytes) }
        if isDraining { drained += bytes }
    }

    mutating func ended() {
        isOpen = false
        isDraining = false
    }

    /// The request was answered before its body ended.
    mutating func refused(now: NIODeadline) {
        isDraining = true
        drainSince = now
    }

    /// The service waits for more. The time while it did not is not counted. Bytes that are not part of the body, such
    /// as a chunk's size, do not extend the deadline.
    mutating func wantsRead(now: NIODeadline) {
        guard !isReadWanted else { return }
        isReadWanted = true
        addPause(until: now)
    }

    /// The bytes that have arrived were passed on.
    mutating func readCompleted(now: NIODeadline) {
        isReadWanted = false
        pausedSince = now
    }

    /// The deadline has passed, and the service was not reading.
    mutating func stillPaused(now: NIODeadline) {
        addPause(until: now)
        pausedSince = now
    }

    private mutating func addPause(until now: NIODeadline) {
        progress = min(now, progress + (now - max(pausedSince, progress)))
        start = min(now, start + (now - max(pausedSince, start)))
    }
}
