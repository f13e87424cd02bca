import NIOCore

/// The progress of a request's body, and the deadline of its next part. A value without side effects.
struct RequestBodyClock {
    private let bodyTimeout: TimeAmount
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
    /// The bytes of the declared length that have not arrived; `nil` for a chunked body.
    private var left: Int?
    private var drained = 0

    init(limits: HTTPLimits) {
        bodyTimeout = TimeAmount(limits.bodyTimeout)
        drainTimeout = TimeAmount(limits.drainTimeout)
        maxDrainedBytes = limits.maxDrainedBytes
    }

    /// When to check the request again.
    var deadline: NIODeadline { isDraining ? drainSince + drainTimeout : progress + bodyTimeout }

    var hasDrainedTooMuch: Bool { isDraining && drained > maxDrainedBytes }

    /// Whether the rest of the body is longer than what is read after an answer.
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
        progress = min(now, progress + (now - max(pausedSince, progress)))
    }

    /// The bytes that have arrived were passed on.
    mutating func readCompleted(now: NIODeadline) {
        isReadWanted = false
        pausedSince = now
    }

    mutating func progressed(now: NIODeadline) { progress = now }
}
