import SecurePushCore

extension RetryDelays {
    /// Past this a hold waits in no delay queue unless the hub asked for it, so that a backlog is back soon after the
    /// trouble is over.
    static let maxHold = Duration.seconds(30)
    /// So many a second come back as soon as the lane may be open; they are enough to probe it.
    static let fewHeld = 100
    static let manyHeld = 500

    /// The delay for what a lane holds.
    ///
    /// The lane's pause says when it makes sense to come back, and the number held in the same second how many may: the
    /// first hundred go to the delay queue that fits, the next to a longer one, and the mass to one longer still. So a
    /// hundred thousand held notifications circle at some thousands a second at most, which is the price of being back
    /// within half a minute.
    func index(holding hold: LaneHold) -> Int {
        let base = index(fitting: hold.pause)
        let steps = hold.crowd <= Self.fewHeld ? 0 : hold.crowd <= Self.manyHeld ? 1 : 2
        guard steps > 0, delays[base] < Self.maxHold else { return base }
        let longer = delays.indices.filter { delays[$0] > delays[base] && delays[$0] <= Self.maxHold }
            .sorted { delays[$0] < delays[$1] }
        return longer.prefix(steps).last ?? base
    }

    /// The shortest delay that covers the pause; where that is far too long, the longest within the pause, after which
    /// the rest of it is looked at again.
    private func index(fitting pause: Duration) -> Int {
        let covering = index(beforeRetry: shortestFirst, atLeast: pause)
        if delays[covering] <= Self.maxHold || delays[covering] * 4 <= pause * 5 { return covering }
        let within = delays.indices.filter { delays[$0] <= pause }.max { delays[$0] < delays[$1] }
        guard let within, delays[within] * 4 >= pause else { return covering }
        return within
    }

    /// The number of the retry with the shortest delay, from 1.
    private var shortestFirst: Int { (delays.indices.min { delays[$0] < delays[$1] } ?? 0) + 1 }
}
