import SecurePushCore

/// How fast a backlog of what has expired is worked off beside live traffic.
///
/// A batch holds up writers for as long as it takes, so batches are cut to ``target``; and each is followed by a pause
/// of twice its own time, so that purging has at most a third of the store. A value without clock or store.
struct PurgePace: Equatable {
    /// How long a batch may take before the next is made smaller.
    static let target = Duration.milliseconds(50)
    static let limits = 16...1000
    /// What a pause may be at most: a store that is slow is no reason to stop destroying.
    static let maxPause = Duration.seconds(2)

    /// Rows of each kind in the next batch.
    private(set) var limit = 500

    /// Notes a batch of ``limit``.
    ///
    /// - Parameters:
    ///   - largest: the most rows of one kind that it held.
    ///   - duration: what it took.
    /// - Returns: the pause before the next batch; `nil` where the batch was not full, so that nothing is left.
    mutating func pause(afterBatchOf largest: Int, taking duration: Duration) -> Duration? {
        let isFull = largest >= limit
        if duration > PurgePace.target {
            limit = max(limit / 2, PurgePace.limits.lowerBound)
        } else if isFull, duration * 2 <= PurgePace.target {
            limit = min(limit * 2, PurgePace.limits.upperBound)
        }
        return isFull ? min(duration * 2, PurgePace.maxPause) : nil
    }
}
