import NIOCore

/// What of a ``HubSender`` only tests change.
struct HubSenderOptions: Sendable {
    /// From submission to answer.
    var deadline: TimeAmount = .seconds(10)
    var connectTimeout: TimeAmount = .seconds(5)
    /// Unused connections are closed after this time, before the load balancers in front of hubs do it.
    var idleTimeout: TimeAmount = .seconds(60)
    /// How long requests may take to end once shutdown has begun.
    var drainTimeout: TimeAmount = .seconds(5)
    /// Event loops to spread over. One carries more sends a second than a hub takes, and with one each wake-up
    /// serves more of them.
    var eventLoops = 1
    /// A PEM file of the authorities to trust instead of the system's.
    var trustedRoots: String?

    /// How often deadlines are looked at: one timer for all requests, and 5 % of the deadline as its grain.
    var tick: TimeAmount { .nanoseconds(max(deadline.nanoseconds / 20, 5_000_000)) }
}
