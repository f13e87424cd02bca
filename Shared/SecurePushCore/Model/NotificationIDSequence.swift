import Synchronization

/// Makes IDs in ascending order (RFC 9562, section 6.2, method 1): the 12 bits after the version count the IDs of one
/// millisecond, and the last 62 bits are random in each.
///
/// The counter begins each millisecond at a random number below 2,048. When it is used up, and when the clock goes
/// backwards, the IDs go on from the time of the last one, a millisecond ahead for every 4,096 of them: their order
/// counts for more than their time.
struct NotificationIDCounter {
    private var time: Int64 = 0
    private var count: UInt16 = 0

    /// The next ID.
    ///
    /// - Parameter now: milliseconds since the Unix epoch; a number that an ID cannot hold counts as the nearest that
    ///   it can.
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

/// The process's own ``NotificationIDCounter``, for all threads.
final class NotificationIDSequence: Sendable {
    static let shared = NotificationIDSequence()

    private let counter = Mutex(NotificationIDCounter())

    func next() -> NotificationID {
        counter.withLock { counter in
            var generator = SystemRandomNumberGenerator()
            // Read under the lock, so that a thread that waited does not come with an old time.
            return counter.next(at: Timestamp.now.milliseconds, using: &generator)
        }
    }
}
