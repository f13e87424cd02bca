/// Gives out the requests of a load test, and says when each is to begin. A value without a clock: times are offsets
/// from the beginning of the test.
struct LoadPacer: Sendable, Equatable {
    /// One request.
    struct Ticket: Sendable, Equatable {
        /// Which notifications it carries, numbered from 0.
        var notifications: Range<Int>
        /// When it is to begin; `nil` is at once. Nothing that goes on moves it, so that a request that had to wait for
        /// a slow one before it counts its waiting as well: figures that leave it out flatter the service
        /// ("coordinated omission").
        var start: Duration?
    }

    private let count: Int
    private let batch: Int
    private let rate: Int?
    private var next = 0

    init(_ plan: LoadPlan) {
        count = plan.count
        batch = plan.batch
        rate = plan.rate
    }

    /// How many notifications were given out.
    var given: Int { next }

    /// The next request; `nil` when there is none left.
    mutating func take() -> Ticket? {
        guard next < count else { return nil }
        let range = next..<min(next + batch, count)
        // From the number each time, so that no rounding adds up.
        let start = rate.map { rate in
            let (seconds, rest) = range.lowerBound.quotientAndRemainder(dividingBy: rate)
            return Duration.seconds(seconds) + .nanoseconds(rest * 1_000_000_000 / rate)
        }
        next = range.upperBound
        return Ticket(notifications: range, start: start)
    }
}
