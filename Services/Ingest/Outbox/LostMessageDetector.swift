import SecurePushCore

/// Tells what the broker evidently does not hold any more, from looks at the dispatch queue.
///
/// A queue that was empty at every look for a while has handed out whatever it was given before, and dispatchers claim
/// what they are handed at once. So what fell due before the end of that while, and is neither settled nor claimed, has
/// been lost. A queue that is short but not empty proves nothing: with no dispatcher running, five IDs that wait would
/// be published again and again, and sent by several dispatchers at the same time once they come.
///
/// What is published again then stands in the queue itself. The evidence for what was due before stays; there is no new
/// one until the queue is empty again.
struct LostMessageDetector {
    private let calm: Duration
    private var emptySince: ContinuousClock.Instant?
    /// What fell due by then, and is still there, has been lost; `nil` before there is evidence.
    private(set) var lostBy: Timestamp?

    init(calm: Duration) { self.calm = calm }

    /// Takes in a look.
    ///
    /// - Parameters:
    ///   - ready: how many messages were ready; `nil` when that is not known, which ends the while.
    ///   - instant: when it was asked; so is `now`.
    mutating func see(_ ready: Int?, at instant: ContinuousClock.Instant, now: Timestamp) {
        guard ready == 0 else {
            emptySince = nil
            return
        }
        let since = emptySince ?? instant
        emptySince = since
        if since.duration(to: instant) >= calm { lostBy = now }
    }
}
