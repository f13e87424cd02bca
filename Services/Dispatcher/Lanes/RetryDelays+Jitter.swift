import SecurePushCore

extension RetryDelays {
    /// The delay before a retry, with full jitter: any of the delays up to the planned one, each as likely as another.
    ///
    /// The delay queues have fixed times, so what is drawn at random is the queue and not the time. It does what full
    /// jitter is for: notifications that failed together, in one short outage of the hub, do not come back together.
    /// Past the number of delays the last one repeats, without drawing: those that get there have been scattered by
    /// then, and a long outage must not use up the attempts that are left in short waits.
    func jitteredIndex(
        beforeRetry attempt: Int, atLeast: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Int {
        let planned = attempt > delays.count ? attempt : Int.random(in: 1...max(1, attempt), using: &generator)
        return index(beforeRetry: planned, atLeast: atLeast)
    }
}
