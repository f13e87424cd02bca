/// The time that lanes go by: monotonic, and a test's own where it has to pass quickly.
struct LaneClock: Sendable {
    typealias Instant = ContinuousClock.Instant

    var now: @Sendable () -> Instant
    /// Returns early when the task is cancelled.
    var sleep: @Sendable (Duration) async -> Void

    static let system = LaneClock(now: { .now }, sleep: { try? await Task.sleep(for: $0) })
}
