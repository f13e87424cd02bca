import Domain

struct LaneSettings: Sendable {
    /// The platforms of `HUB_PLATFORMS`.
    var platforms: [Platform]
    /// The maximum of requests to a hub in flight, of all its lanes together (`DISPATCH_CONCURRENCY`).
    var concurrency = 768
    /// The maximum of unacknowledged deliveries (`DISPATCH_PREFETCH`).
    var prefetch = 1024
    /// The maximum of notifications that are claimed and not settled, which also limits a lane's queue: twice the
    /// number of requests, so that each lane has a next send waiting, or the prefetch if that is less.
    var maxInFlight: Int { max(1, min(prefetch, concurrency * 2)) }
    /// The hub's name (`HUB_NAME`), for metrics and logs.
    var hub = "hub"
    /// The URL of the hub's namespace, for logs.
    var endpoint = ""
    /// Whether the hub is one of several (`HUB_POOL_FILE`).
    var isPooled = false
    var clock = LaneClock.system

    /// The maximum of requests of one lane. It is an equal share, so that no lane can take the connections of another,
    /// and at most half of the notifications in flight, so that the others go on if the hub stops answering for one
    /// platform. It is at least 1: if there are more lanes than requests, the hub client has the final limit.
    var share: Int {
        max(1, min(concurrency / max(1, platforms.count), maxInFlight / 2))
    }
}

/// The monotonic clock of the lanes. Tests have their own, in which time passes quickly.
struct LaneClock: Sendable {
    typealias Instant = ContinuousClock.Instant

    var now: @Sendable () -> Instant
    /// Waits; returns early if the task is cancelled.
    var sleep: @Sendable (Duration) async -> Void

    static let system = LaneClock(now: { .now }, sleep: { try? await Task.sleep(for: $0) })
}
