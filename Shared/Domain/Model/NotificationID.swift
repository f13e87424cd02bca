package import Foundations
import Synchronization

/// The ID of a notification: a UUID of version 7 (RFC 9562, section 5.7), written in lower case.
///
/// It is the only part of a notification that crosses the broker, the hub and the vendors' networks. IDs sort by time
/// of creation, are opaque to clients, and grant no access by themselves.
///
/// Decision: docs/decisions/0013-ids-ascend.md
package struct NotificationID: Hashable, Sendable {
    /// The first eight bytes, big-endian.
    package let high: UInt64
    /// The last eight bytes, big-endian.
    package let low: UInt64

    /// The message to a client about any other text.
    package static let requirement = "The value must be the ID of a notification."

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// A new ID, greater than all earlier ones of this process.
    package init() {
        self = NotificationIDSequence.shared.next()
    }

    /// An ID of a given time: 48 bits of milliseconds since the Unix epoch, then 74 random bits. IDs of the same time
    /// have no order.
    ///
    /// - Parameter time: a time that 48 bits cannot hold, before 1970 or after the year 10889, counts as the nearest
    ///   one that they can.
    package init(at time: Timestamp) {
        var generator = SystemRandomNumberGenerator()
        let random = generator.next()
        self.init(milliseconds: time.milliseconds, counter: UInt16(truncatingIfNeeded: random), using: &generator)
    }

    /// An ID that only tells requests apart: it is in no order and can be guessed. It asks the system for no random
    /// numbers, which takes longer than all else.
    package static func ofRequest(at time: Timestamp = .now) -> NotificationID {
        var generator = SplitMix64.reserving(2)
        let counter = UInt16(truncatingIfNeeded: generator.next())
        return NotificationID(milliseconds: time.milliseconds, counter: counter, using: &generator)
    }

    /// - Parameters:
    ///   - milliseconds: since the Unix epoch; limited to 48 bits.
    ///   - counter: the 12 bits after the version.
    ///   - generator: the source of the last 62 bits.
    init(milliseconds: Int64, counter: UInt16, using generator: inout some RandomNumberGenerator) {
        let time = UInt64(max(0, min(milliseconds, Self.maxMilliseconds)))
        high = time << 16 | 0x7000 | UInt64(counter & 0x0FFF)
        low = generator.next() & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
    }

    /// The latest time of an ID, in milliseconds since the Unix epoch.
    static let maxMilliseconds: Int64 = 1 << 48 - 1

    /// Reads the 36 characters of a UUID, without regard to case (RFC 9562, section 4); `nil` for any other text.
    package init?(_ text: some StringProtocol) {
        var text = String(text)
        let parsed = text.withUTF8 { NotificationID(utf8: $0) }
        guard let parsed else { return nil }
        self = parsed
    }

    /// Reads the 36 bytes of a UUID, without regard to case (RFC 9562, section 4); `nil` for any other text.
    package init?(utf8 bytes: [UInt8]) {
        guard let id = bytes.withUnsafeBufferPointer({ NotificationID(utf8: $0) }) else { return nil }
        self = id
    }

    /// Reads the 36 bytes of a UUID, without regard to case (RFC 9562, section 4); `nil` for any other text.
    ///
    /// It takes memory and no collection: a generic reader is not specialised for other modules, and there it took a
    /// fifth of all instructions of a dispatcher.
    package init?(utf8 bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count == 36 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for position in 0..<36 {
            let byte = bytes[position]
            if position == 8 || position == 13 || position == 18 || position == 23 {
                guard byte == UInt8(ascii: "-") else { return nil }
                continue
            }
            let value: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): value = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): value = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            // The first half ends with the third group.
            if position < 18 {
                halves.0 = halves.0 << 4 | UInt64(value)
            } else {
                halves.1 = halves.1 << 4 | UInt64(value)
            }
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// The 16 bytes in network order.
    package var bytes: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 16) { buffer, count in
            buffer.withMemoryRebound(to: UInt64.self) { words in
                words[0] = high.bigEndian
                words[1] = low.bigEndian
            }
            count = 16
        }
    }

    /// Makes an ID of its 16 bytes in network order; `nil` for another number of bytes.
    package init?(bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        var halves: (UInt64, UInt64) = (0, 0)
        for (position, byte) in bytes.enumerated() {
            if position < 8 { halves.0 = halves.0 << 8 | UInt64(byte) } else { halves.1 = halves.1 << 8 | UInt64(byte) }
        }
        self.init(high: halves.0, low: halves.1)
    }

    /// The time of creation in the ID.
    package var timestamp: Timestamp { Timestamp(milliseconds: Int64(high >> 16)) }
}

extension NotificationID: Comparable {
    package static func < (lhs: NotificationID, rhs: NotificationID) -> Bool {
        (lhs.high, lhs.low) < (rhs.high, rhs.low)
    }
}

extension NotificationID: CustomStringConvertible {
    /// The 36 characters, `xxxxxxxx-xxxx-7xxx-xxxx-xxxxxxxxxxxx`.
    package var description: String {
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

/// Makes IDs in ascending order (RFC 9562, section 6.2, method 1): the 12 bits after the version count the IDs of one
/// millisecond, and the last 62 bits are random in each.
///
/// The counter begins each millisecond at a random number below 2,048. When it overflows, and when the clock goes
/// backwards, the IDs continue from the time of the last one, one millisecond ahead per 4,096 IDs. Their order is more
/// important than their time.
struct NotificationIDCounter {
    private var time: Int64 = 0
    private var count: UInt16 = 0

    /// The next ID.
    ///
    /// - Parameter now: milliseconds since the Unix epoch. A number that an ID cannot hold counts as the nearest one
    ///   that it can.
    mutating func next(at now: Int64, using generator: inout some RandomNumberGenerator) -> NotificationID {
        let now = max(0, min(now, NotificationID.maxMilliseconds))
        if now > time {
            time = now
            count = UInt16.random(in: 0..<2048, using: &generator)
        } else if count < 4095 {
            count += 1
        } else if time < NotificationID.maxMilliseconds {
            time += 1
            count = 0
        }
        return NotificationID(milliseconds: time, counter: count, using: &generator)
    }
}

/// The ``NotificationIDCounter`` of this process, for all threads.
final class NotificationIDSequence: Sendable {
    static let shared = NotificationIDSequence()

    private let counter = Mutex(NotificationIDCounter())

    func next() -> NotificationID {
        counter.withLock { counter in
            var generator = SystemRandomNumberGenerator()
            // Read under the lock, so that a thread that waited does not use an old time.
            return counter.next(at: Timestamp.now.milliseconds, using: &generator)
        }
    }
}
