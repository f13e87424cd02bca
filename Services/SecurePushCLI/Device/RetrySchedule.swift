/// The waits between the tries of a simulated device: each twice as long as the last, with jitter, and never shorter
/// than the server's `Retry-After` (RFC 9110, 10.2.3).
struct RetrySchedule: Sendable, Equatable {
    /// The number of tries after which it ends; `nil` for no end.
    private(set) var maxTries: Int?
    private let first: Duration
    private let longest: Duration
    private var delay: Duration
    /// The tries that failed in a row.
    private(set) var failures = 0

    /// The longest `Retry-After` that is waited for. A device gives up a server that asks for more.
    static let longestRetryAfter = Duration.seconds(300)

    init(maxTries: Int?, first: Duration, longest: Duration) {
        self.maxTries = maxTries
        self.first = first
        self.longest = longest
        delay = first
    }

    /// The tries of something that has not answered yet: three to six seconds of waits.
    static let atStart = RetrySchedule(maxTries: 6, first: .milliseconds(200), longest: .seconds(5))

    /// The tries of a registration that the server refuses for a time. Each is already a series of tries by the SDK.
    static let registration = RetrySchedule(maxTries: 4, first: .seconds(1), longest: .seconds(30))

    /// The wait after a try that failed; `nil` if there is none, because it was the last try or the server asks for a
    /// longer wait than ``longestRetryAfter``.
    ///
    /// - Parameter jitter: 0.5 to 1; tests use another one.
    mutating func next(retryAfter: Duration? = nil, jitter: Double = .random(in: 0.5...1)) -> Duration? {
        failures += 1
        if let maxTries, failures >= maxTries { return nil }
        let wait = max(delay * jitter, retryAfter ?? .zero)
        delay = min(delay * 2, longest)
        return (retryAfter ?? .zero) > Self.longestRetryAfter ? nil : wait
    }

    /// The server answers, so the next failure begins with the shortest wait and the tries are no longer limited.
    mutating func succeed() {
        self = RetrySchedule(maxTries: nil, first: first, longest: longest)
    }
}
