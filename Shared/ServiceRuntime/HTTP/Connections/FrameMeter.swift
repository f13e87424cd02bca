import NIOCore

/// Counts the frames of an HTTP/2 connection that cost the service work and bring nothing of a request, and bounds
/// them: `WINDOW_UPDATE`, `PING`, `SETTINGS`, `PRIORITY`, `RST_STREAM`, `CONTINUATION`, all unknown types, and `DATA`
/// with hardly any bytes, of which padding is none. NIO bounds some of them. A value without side effects.
///
/// A client may send 1,000 per second, 2,000 at once, and one more for each KiB that it was sent: it answers bytes by
/// `WINDOW_UPDATE`.
struct FrameMeter {
    static let perSecond: Int64 = 1000
    static let burst: Int64 = 2000
    /// Frames that are allowed at once because of bytes that were sent.
    static let maxAllowed: Int64 = 50_000
    /// `DATA` with fewer bytes is counted.
    static let minData = 16

    /// The bytes to pass over: at first the preface (RFC 9113, section 3.4), then payloads.
    private var skipped = 24
    /// The bytes of the current frame's header that have arrived: of 9, or of 10 with the length of its padding.
    private var position = 0
    private var length = 0
    private var type: UInt8 = 0
    private var isLast = false
    private var isPadded = false
    /// The bytes of the payload that are no content.
    private var padding = 0

    private var allowed = FrameMeter.burst
    private var refilled: NIODeadline
    private var sentBytes: Int64 = 0

    init(now: NIODeadline) { refilled = now }

    mutating func sent(_ bytes: Int) {
        sentBytes += Int64(bytes)
        guard sentBytes >= 1024 else { return }
        allowed = min(Self.maxAllowed, allowed + sentBytes / 1024)
        sentBytes %= 1024
    }

    /// Bytes have arrived.
    ///
    /// - Returns: `false` if there were too many frames.
    mutating func received(_ bytes: ByteBuffer, now: NIODeadline) -> Bool {
        let count = bytes.withUnsafeReadableBytes { read($0) }
        guard count > 0 else { return true }
        // Below a second the product cannot overflow, and longer times fill the bucket anyway.
        let elapsed = min((now - refilled).nanoseconds, 10_000_000_000)
        let gained = elapsed * Self.perSecond / 1_000_000_000
        if gained > 0 {
            allowed = max(allowed, min(Self.burst, allowed + gained))
            refilled = now
        }
        allowed -= Int64(count)
        return allowed >= 0
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer) -> Int {
        var (index, count) = (0, 0)
        while index < bytes.count {
            if skipped > 0 {
                let step = min(skipped, bytes.count - index)
                skipped -= step
                index += step
                continue
            }
            let byte = bytes[index]
            index += 1
            switch position {
            case 0: length = Int(byte)
            case 1, 2: length = length << 8 | Int(byte)
            case 3: type = byte
            case 4:
                isLast = byte & 1 != 0
                isPadded = type == 0 && byte & 8 != 0 && length > 0
                padding = 0
            case 9: padding = 1 + Int(byte)
            default: break
            }
            position += 1
            guard position == (isPadded ? 10 : 9) else { continue }
            skipped = isPadded ? length - 1 : length
            (position, isPadded) = (0, false)
            if isCounted { count += 1 }
        }
        return count
    }

    private var isCounted: Bool {
        switch type {
        case 0: length - padding < Self.minData && !isLast
        case 1: false
        default: true
        }
    }

    /// `GOAWAY` with `ENHANCE_YOUR_CALM` (RFC 9113, section 6.8): the connection is closed behind it.
    static let goAway: [UInt8] = [0, 0, 8, 7, 0, 0, 0, 0, 0, 0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0x0B]
}
