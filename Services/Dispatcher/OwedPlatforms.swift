import SecurePushCore

/// What an attempt leaves to do, and when: one message for all platforms together, for two messages of one notification
/// in two dispatchers would fence off each other's outcomes.
struct OwedPlatforms {
    private(set) var platforms: [Platform] = []
    /// The most requests that any of those that failed has used up; 0 where none failed.
    private(set) var failures = 0
    private var retryAfter: Duration?
    /// The shortest of the delays of what is held or throttled.
    private var hold: Int?

    mutating func add(_ delivery: Delivery, _ answer: LaneAnswer, _ delays: RetryDelays) {
        platforms.append(delivery.platform)
        let asked = answer.retryAfter
        guard let held = answer.hold else {
            failures = max(failures, delivery.attempts)
            if let asked { retryAfter = max(retryAfter ?? .zero, asked) }
            return
        }
        // What the hub itself sent away comes back as it asked; what the lane held, when the lane is looked at again.
        let index = asked.map { delays.index(beforeRetry: 1, atLeast: $0) } ?? delays.index(holding: held)
        if let other = hold, delays.delays[other] <= delays.delays[index] { return }
        hold = index
    }

    /// The delay of the message, or `nil` where nothing is owed.
    ///
    /// The back-off of what failed is kept, and what is held comes along with it: the other way round a platform that
    /// fails would use up its attempts at the pace of one that is held. A platform that is still paused then is held
    /// once more, which costs nothing.
    func delay(_ delays: RetryDelays) -> Int? {
        guard failures > 0 else { return hold }
        var generator = SystemRandomNumberGenerator()
        return delays.jitteredIndex(beforeRetry: failures, atLeast: retryAfter, using: &generator)
    }
}
