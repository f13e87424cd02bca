import Metrics
import SecurePushCore

/// The dispatcher's instruments, kept so that no notification has to look one up.
struct DispatchMetrics: Sendable {
    let settled = Counter(label: "securepush_dispatch_settled_total")
    let unknown = Counter(label: "securepush_dispatch_unknown_total")
    let repeated = Counter(label: "securepush_dispatch_repeated_total")
    let redelivered = Counter(label: "securepush_redeliveries_total")
    let skipped = Counter(label: "securepush_dispatch_skipped_total")
    let retries = Counter(label: "securepush_dispatch_retries_total")
    let claimFailures = Counter(label: "securepush_dispatch_store_failures_total", dimensions: [("operation", "claim")])
    let recordFailures = Counter(
        label: "securepush_dispatch_store_failures_total", dimensions: [("operation", "record")])
    let ambiguous = Counter(label: "securepush_ambiguous_total", dimensions: [("reason", "claimed")])
    private let unregistered: [Platform: Counter]
    private let deadLettered: [String: Counter]

    init(platforms: [Platform]) {
        let counters = platforms.map { platform in
            let dimensions = [("platform", platform.rawValue)]
            return (platform, Counter(label: "securepush_dispatch_unregistered_total", dimensions: dimensions))
        }
        unregistered = Dictionary(counters) { first, _ in first }
        let letters = DeadLetterCause.labels.map { label in
            (label, Counter(label: "securepush_dead_lettered_total", dimensions: [("reason", label)]))
        }
        deadLettered = Dictionary(letters) { first, _ in first }
    }

    /// Counts sends that were skipped because the recipient has no device on the platform.
    func countUnregistered(_ platforms: [Platform]) {
        for platform in platforms { unregistered[platform]?.increment() }
    }

    /// Counts messages that were moved to the dead-letter queue.
    func countDeadLetters(_ cause: DeadLetterCause, _ messages: Int = 1) {
        deadLettered[cause.label]?.increment(by: messages)
    }
}
