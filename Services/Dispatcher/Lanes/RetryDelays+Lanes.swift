import Domain

extension RetryDelays {
    /// A hold waits in a longer delay queue only if the hub asked for it, so that a backlog returns soon after the
    /// problem is over.
    static let maxHold = Duration.seconds(30)
    /// This many held sends per second come back as soon as the lane may be open, which is enough to probe it.
    static let fewHeld = 100
    static let manyHeld = 500

    /// The index of the delay for a held send.
    ///
    /// The lane's pause decides when to come back, and the number of holds in the same second decides how many may: the
    /// first hundred go to the delay queue that fits, the next to a longer one, and the others to one that is longer
    /// still. So a hundred thousand held notifications circle at some thousands per second at most, and are back within
    /// half a minute.
    func index(holding hold: LaneHold) -> Int {
        let base = index(fitting: hold.pause)
        let steps = hold.crowd <= Self.fewHeld ? 0 : hold.crowd <= Self.manyHeld ? 1 : 2
        guard steps > 0, delays[base] < Self.maxHold else { return base }
        let longer = delays.indices.filter { delays[$0] > delays[base] && delays[$0] <= Self.maxHold }
            .sorted { delays[$0] < delays[$1] }
        return longer.prefix(steps).last ?? base
    }

    /// The index of the shortest delay that covers the pause. If that is far too long, the longest delay within the
    /// pause: the send is then held again for the rest of it.
    private func index(fitting pause: Duration) -> Int {
        let covering = index(beforeRetry: shortestFirst, atLeast: pause)
        if delays[covering] <= Self.maxHold || delays[covering] * 4 <= pause * 5 { return covering }
        let within = delays.indices.filter { delays[$0] <= pause }.max { delays[$0] < delays[$1] }
        guard let within, delays[within] * 4 >= pause else { return covering }
        return within
    }

    /// The number of the retry with the shortest delay, from 1.
    private var shortestFirst: Int { (delays.indices.min { delays[$0] < delays[$1] } ?? 0) + 1 }

    /// The index of the delay before a retry, with full jitter: one of the delays up to the planned one, each with the
    /// same probability.
    ///
    /// The delay queues have fixed times, so the queue is random and not the time. The purpose of full jitter is met:
    /// notifications that failed together, in one short outage of the hub, do not come back together. After the last
    /// delay, it repeats without jitter: these notifications have been scattered before, and a long outage must not use
    /// up the remaining attempts in short waits.
    func jitteredIndex(
        beforeRetry attempt: Int, atLeast: Duration?, using generator: inout some RandomNumberGenerator
    ) -> Int {
        let planned = attempt > delays.count ? attempt : Int.random(in: 1...max(1, attempt), using: &generator)
        return index(beforeRetry: planned, atLeast: atLeast)
    }
}
