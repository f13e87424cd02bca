import SecurePushCore

/// What the lanes are set up with.
struct LaneSettings: Sendable {
    /// The platforms of `HUB_PLATFORMS`.
    var platforms: [Platform]
    /// Requests to the hub under way, of all lanes together (`DISPATCH_CONCURRENCY`).
    var concurrency = 512
    /// Deliveries held at once (`DISPATCH_PREFETCH`).
    var prefetch = 1024
    /// Notifications claimed and not settled, which bounds what can wait in a lane: twice as many as requests, so that
    /// each lane finds the next one waiting, or the prefetch where that is less.
    var maxInFlight: Int { max(1, min(prefetch, concurrency * 2)) }
    /// The hub's name (`HUB_NAME`), for metrics and logs.
    var hub = "hub"
    /// The URL of the hub's namespace, for logs.
    var endpoint = ""
    var clock = LaneClock.system

    /// The most requests of one lane: an equal part of the whole, so that no lane can take the connections of another;
    /// and no more than half of what is under way, so that a hub that stops answering on one platform leaves some for
    /// the others. At least 1: where there are more lanes than requests allowed, the hub client has the last word.
    var share: Int {
        max(1, min(concurrency / max(1, platforms.count), maxInFlight / 2))
    }
}
