import Foundations

/// The clocks of deliveries: the wall clock for stored times, and the monotonic clock for pauses and deadlines. Tests
/// use other clocks.
struct DeliveryClock: Sendable {
    var now: @Sendable () -> Timestamp = { .now }
    var instant: @Sendable () -> ContinuousClock.Instant = { .now }
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    static let system = DeliveryClock()
}

/// How pushes are made.
struct DeliverySettings: Sendable {
    /// How long a send waits for the push services (`HUB_ACCEPT_TIMEOUT`).
    var acceptTimeout = Duration.seconds(2)
    /// How long a push is tried again at most (`HUB_RETRY_FOR`).
    var retryFor = Duration.seconds(1800)
    /// How long one push may take, with its repetition.
    var pushTimeout = Duration.seconds(10)
    /// The pushes of one lane that may be in flight.
    var maxInFlight = 500
    /// The stored pushes of one lane that this process pushes at a time.
    var maxRetries = 100
    /// How long a claim of a stored push lasts: longer than a push, so that nobody else pushes it meanwhile, and short,
    /// because pushes wait for it after a crash.
    var claim = Duration.seconds(30)
    /// How often a process looks for pushes that other processes have left.
    var standby = Duration.seconds(5)
    /// How long messages and feedback are kept.
    var retention = Duration.seconds(3 * 86_400)
}
