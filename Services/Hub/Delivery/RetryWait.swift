/// How long a push waits before it is tried again.
enum RetryWait {
    private static let steps: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120), .seconds(300)]
    /// A push never comes back at once, so that a push service that fails at once is not asked in a loop.
    static let shortest = Duration.milliseconds(200)
    /// The longest time that a push service can ask for; longer ones count as this.
    private static let longest = Duration.seconds(86_400)
    /// Google's advice ("Scale FCM"): the first retry after 10 seconds or later.
    private static let shortestOfGoogle = Duration.seconds(10)
    /// A device that gets too many pushes needs a pause: the limits are by the minute.
    static let shortestOfDevice = Duration.seconds(10)

    /// - Parameters:
    ///   - attempt: how often the push was tried, from 1.
    ///   - asked: how long the push service asked to wait. A tenth is added at random, so that pushes that failed
    ///     together do not come back together. Without it, the wait is random up to 1 s, 5 s, 30 s, 2 min, then 5 min.
    static func duration(
        afterAttempt attempt: Int, of platform: NotificationFormat, asked: Duration?,
        random: (ClosedRange<Double>) -> Double = { Double.random(in: $0) }
    ) -> Duration {
        let least = platform == .fcmv1 || platform == .gcm ? shortestOfGoogle : shortest
        if let asked { return max(min(asked, longest) * (1 + random(0...0.1)), least) }
        let step = steps[min(max(attempt, 1), steps.count) - 1]
        return least + max(step - least, .zero) * random(0...1)
    }

    /// How long a push waits whose push service is paused, while other push services of its lane are not. Each look at
    /// it costs two statements, so the wait grows with the time that it has waited.
    static func whileHeld(_ rest: Duration, age: Duration) -> Duration { max(rest, min(age / 4, .seconds(120))) }
}
