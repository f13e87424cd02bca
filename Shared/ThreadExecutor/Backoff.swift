/// The waits between attempts to connect: full jitter, a random time up to a bound that doubles with each failure, so
/// that many processes do not come back in step.
package struct Backoff: Sendable {
    private static let minBound = Duration.milliseconds(100)
    private static let maxBound = Duration.seconds(5)
    private var failures = 0

    package init() {}

    /// Notes that a connection ended. One that lasted begins again with the shortest waits. One that ended at once
    /// counts as a failed attempt: a server or a pooler may accept connections only to drop them.
    package mutating func connectionEnded(after lifetime: Duration) {
        if lifetime > .seconds(1) { failures = 0 }
    }

    /// The time to wait before the next attempt: at least 50 ms, so that no failure makes a tight loop; at most 5 s.
    package mutating func next() -> Duration {
        let bound = min(Backoff.maxBound, Backoff.minBound * (1 << min(failures, 16)))
        failures += 1
        return max(Backoff.minBound / 2, bound * Double.random(in: 0...1))
    }
}
