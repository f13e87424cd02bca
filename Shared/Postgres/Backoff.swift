/// Growing waits between attempts to connect, with full jitter so that many processes do not return in step.
struct Backoff {
    private static let shortest = Duration.milliseconds(100)
    private static let longest = Duration.seconds(5)
    private var ceiling = shortest

    /// A random wait of at least a tenth of a second, at most twice the last one's limit, never more than 5 s.
    mutating func next() -> Duration {
        ceiling = min(ceiling * 2, Backoff.longest)
        let limit = Int64(ceiling / .milliseconds(1))
        return .milliseconds(Int64.random(in: 100...limit))
    }
}
