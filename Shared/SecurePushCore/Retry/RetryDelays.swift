/// The waits between attempts, one delay queue each (`RETRY_DELAYS`).
public struct RetryDelays: Sendable, Hashable {
    /// Not empty, each longer than none.
    public let delays: [Duration]

    public static let standard = RetryDelays([.seconds(1), .seconds(5), .seconds(30), .seconds(120), .seconds(600)])

    /// - Precondition: `delays` is not empty.
    public init(_ delays: [Duration]) {
        precondition(!delays.isEmpty, "There must be a delay to retry after.")
        self.delays = delays
    }

    /// The index of the delay before a retry.
    ///
    /// - Parameters:
    ///   - attempt: the number of the retry, from 1; past the last delay the last repeats.
    ///   - atLeast: the hub's `Retry-After`; the shortest delay that honours it, or the longest there is.
    public func index(beforeRetry attempt: Int, atLeast: Duration? = nil) -> Int {
        let planned = min(max(attempt, 1), delays.count) - 1
        guard let atLeast, delays[planned] < atLeast else { return planned }
        let longEnough = delays.indices.filter { delays[$0] >= atLeast }.min { delays[$0] < delays[$1] }
        return longEnough ?? delays.indices.max { delays[$0] < delays[$1] } ?? planned
    }
}
