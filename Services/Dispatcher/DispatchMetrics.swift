import Metrics
import SecurePushCore

/// The dispatcher's instruments, held so that none is looked up on the way of a notification.
struct DispatchMetrics: Sendable {
    let settled = Counter(label: "securepush_dispatch_settled_total")
    let unknown = Counter(label: "securepush_dispatch_unknown_total")
    let repeated = Counter(label: "securepush_dispatch_repeated_total")
    let redelivered = Counter(label: "securepush_redeliveries_total")
    let skipped = Counter(label: "securepush_dispatch_skipped_total")
    let poison = Counter(label: "securepush_parked_total", dimensions: [("reason", "unreadable")])
    let exhausted = Counter(label: "securepush_parked_total", dimensions: [("reason", "attempts")])
    let retries = Counter(label: "securepush_dispatch_retries_total")
    let claimFailures = Counter(label: "securepush_dispatch_store_failures_total", dimensions: [("operation", "claim")])
    let recordFailures = Counter(
        label: "securepush_dispatch_store_failures_total", dimensions: [("operation", "record")])
    let ambiguous = Counter(label: "securepush_ambiguous_total", dimensions: [("reason", "claimed")])
    private let unregistered: [Platform: Counter]

    init(platforms: [Platform]) {
        unregistered = Dictionary(
            uniqueKeysWithValues: platforms.map { platform in
                let dimensions = [("platform", platform.rawValue)]
                return (platform, Counter(label: "securepush_dispatch_unregistered_total", dimensions: dimensions))
            })
    }

    /// Counts sends that were saved, for the recipient has no device on the platform.
    func countUnregistered(_ platforms: [Platform]) {
        for platform in platforms { unregistered[platform]?.increment() }
    }

    /// Counts messages published on behalf of failed attempts.
    func count(_ route: DispatchRoute, _ messages: Int) {
        switch route {
        case .retry: retries.increment(by: messages)
        case .dead: exhausted.increment(by: messages)
        case .dispatch: break
        }
    }
}
