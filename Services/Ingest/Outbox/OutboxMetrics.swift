import Metrics
import SecurePushCore

/// The relay's instruments.
struct OutboxMetrics: Sendable {
    let published = Counter(label: "securepush_outbox_published_total")
    let swept = Counter(label: "securepush_outbox_swept_total")
    let republished = Counter(label: "securepush_outbox_republished_total")
    let unconfirmed = Counter(label: "securepush_outbox_unconfirmed_total")
    let confirm = Metrics.Timer(label: "securepush_publish_confirm_duration_seconds")
    private let pending = Gauge(label: "securepush_outbox_pending")
    private let oldestAge = Gauge(label: "securepush_outbox_oldest_age_seconds")

    /// Notes what waits.
    func observe(_ backlog: OutboxBacklog) {
        pending.record(backlog.count)
        oldestAge.record(Double(backlog.age(at: .now).milliseconds) / 1000)
    }
}

extension OutboxBacklog {
    /// How long the oldest entry that is due has been there; zero when none is.
    func age(at now: Timestamp) -> Duration { oldest.map { max(.zero, now - $0) } ?? .zero }
}
