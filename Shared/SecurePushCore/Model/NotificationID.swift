/// The ID of a notification: a UUID of version 7 (RFC 9562, section 5.7), written in lower case.
///
/// It is the only thing of a notification that crosses the broker, the hub and the vendors' networks. It sorts by
/// time of creation, is opaque to clients, and opens nothing by itself.
public struct NotificationID: Hashable, Sendable {
    /// The first and the last eight bytes, big-endian.
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new ID, greater than all that this process has made so.
    public init() {
        self = NotificationIDSequence.shared.next()
    }

    /// An ID of a given time, in no order with others of it: 48 bits of milliseconds since the Unix epoch, then 74
    /// random bits.
    ///
    /// - Parameter time: a time before 1970 or after the year 10889, which 48 bits cannot hold, counts as the nearest
    ///   that they can.
    public init(at time: Timestamp) {
        var generator = SystemRandomNumberGenerator()
        let random = generator.next()
        self.init(milliseconds: time.milliseconds, counter: UInt16(truncatingIfNeeded: random), using: &generator)
    }

    /// - Parameters:
    ///   - milliseconds: since the Unix epoch; limited to what 48 bits can hold.
    ///   - counter: the 12 bits after the version.
    ///   - generator: where the last 62 bits come from.
    init(milliseconds: Int64, counter: UInt16, using generator: inout some RandomNumberGenerator) {
        let time = UInt64(max(0, min(milliseconds, Self.maxMilliseconds)))
        high = time << 16 | 0x7000 | UInt64(counter & 0x0FFF)
        low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// The latest time of an ID, in milliseconds since the Unix epoch.
    static let maxMilliseconds: Int64 = 1 << 48 - 1

    /// Reads the 36 characters of a UUID in lower case; anything else is `nil`.
    public init?(_ text: some StringProtocol) {
        var text = String(text)
        let parsed = text.withUTF8 { NotificationID(utf8: $0) }
        guard let parsed else { return nil }
        self = parsed
    }

    /// Reads the 36 bytes of a UUID in lower case; anything else is `nil`.
    public init?(utf8 bytes: some Collection<UInt8>) {
        guard bytes.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        var digits = 0
        for (position, byte) in bytes.enumerated() {
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
            default: return nil
            }
            if digits < 16 {
                halves.0 = halves.0 << 4 | UInt64(value)
            } else {
                halves.1 = halves.1 << 4 | UInt64(value)
            }
            digits += 1
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// The 16 bytes in network order.
    public var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            buffer.withMemoryRebound(to: UInt64.self) { words in
                words[0] = high.bigEndian
                words[1] = low.bigEndian
            }
            count = 16
        }
    }

    /// From the 16 bytes in network order; `nil` for another number of bytes.
    public init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for (position, byte) in bytes.enumerated() {
            if position < 8 { halves.0 = halves.0 << 8 | UInt64(byte) } else { halves.1 = halves.1 << 8 | UInt64(byte) }
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// When the ID was made, as it says itself.
    public var timestamp: Timestamp { Timestamp(milliseconds: Int64(high >> 16)) }
}

extension NotificationID: Comparable {
    public static func < (lhs: NotificationID, rhs: NotificationID) -> Bool {
        (lhs.high, lhs.low) < (rhs.high, rhs.low)
    }
}

extension NotificationID: CustomStringConvertible {
    /// The 36 characters, `xxxxxxxx-xxxx-7xxx-xxxx-xxxxxxxxxxxx`.
    public var description: String {
        String(unsafeUninitializedCapacity: 36) { buffer in
            var position = 0
            for digit in 0..<32 {
                if digit == 8 || digit == 12 || digit == 16 || digit == 20 {
                    buffer[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = digit < 16 ? high : low
                let nibble = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * (digit & 15))) & 0x0F
                buffer[position] = nibble < 10 ? nibble + UInt8(ascii: "0") : nibble - 10 + UInt8(ascii: "a")
                position += 1
            }
            return 36
        }
    }
}
