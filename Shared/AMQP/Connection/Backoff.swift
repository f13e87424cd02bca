/// Full jitter: a random time up to a bound that doubles with each failure.
struct Backoff {
    var minimum: Duration = .milliseconds(100)
    var maximum: Duration = .seconds(5)
    private(set) var failures = 0

    mutating func reset() { failures = 0 }

    /// The time to wait before the next attempt: at least half of ``minimum``, so that no failure makes a tight loop.
    mutating func next(using generator: inout some RandomNumberGenerator) -> Duration {
        let bound = min(maximum, minimum * (1 << min(failures, 16)))
        failures += 1
        return max(minimum / 2, bound * Double.random(in: 0...1, using: &generator))
    }

    mutating func next() -> Duration {
        var generator = SystemRandomNumberGenerator()
        return next(using: &generator)
    }
}
