import Metrics
import SecurePushCore

/// What purging did.
struct PurgeMetrics: Sendable {
    private let payloads = Counter(label: "securepush_purged_total", dimensions: [("kind", "payload")])
    private let notifications = Counter(label: "securepush_purged_total", dimensions: [("kind", "notification")])
    private let keys = Counter(label: "securepush_purged_total", dimensions: [("kind", "key")])
    private let duration = Metrics.Timer(label: "securepush_purge_batch_duration_seconds")

    func count(_ report: PurgeReport, taking duration: Duration) {
        payloads.increment(by: report.payloads)
        notifications.increment(by: report.notifications)
        keys.increment(by: report.keys)
        self.duration.recordNanoseconds(duration.nanoseconds)
    }
}
