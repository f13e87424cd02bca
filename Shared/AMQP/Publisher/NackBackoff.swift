/// How long a publisher bears that all messages to a queue are refused, before it tries a new connection.
///
/// RabbitMQ looks up a quorum queue's leader once for each channel. A channel that was opened just after the leader's
/// node died keeps to the dead node, and refuses every message (`basic.nack`) until that node is back; a new one finds
/// the new leader. A queue that is full refuses too, and there a new connection is of no use: hence the growing time.
struct NackBackoff {
    private static let shortest = Duration.seconds(1)
    private static let longest = Duration.seconds(30)
    /// What is borne now.
    private(set) var limit = shortest
    private var lastEnd: ContinuousClock.Instant?

    /// It was exceeded, and the connection is given up.
    mutating func exceeded(_ now: ContinuousClock.Instant) {
        let wasLongAgo = lastEnd.map { now - $0 > NackBackoff.longest * 2 } ?? true
        limit = wasLongAgo ? NackBackoff.shortest * 2 : min(limit * 2, NackBackoff.longest)
        lastEnd = now
    }

    /// A minute without such an end is a new beginning.
    mutating func current(_ now: ContinuousClock.Instant) -> Duration {
        if let lastEnd, now - lastEnd > NackBackoff.longest * 2 { limit = NackBackoff.shortest }
        return limit
    }
}
