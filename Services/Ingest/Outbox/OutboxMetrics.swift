import Domain
import Foundations
import Metrics
import ServiceRuntime

struct OutboxMetrics: Sendable {
    let published = Counter(label: "securepush_outbox_published_total")
    let swept = Counter(label: "securepush_outbox_swept_total")
    let republished = Counter(label: "securepush_outbox_republished_total")
    let unconfirmed = Counter(label: "securepush_outbox_unconfirmed_total")
    let confirm = Metrics.Timer(label: "securepush_publish_confirm_duration_seconds")
    private let pending = Gauge(label: "securepush_outbox_pending")
    private let oldestAge = Gauge(label: "securepush_outbox_oldest_age_seconds")

    func observe(_ backlog: OutboxBacklog) {
        pending.record(backlog.count)
        oldestAge.record(Double(backlog.age(at: .now).milliseconds) / 1000)
    }
}

extension OutboxRelay {
    /// `"outbox":{"pending":N,"oldest_age_seconds":S}` in the response to `/readyz`: the entries that wait to be
    /// published, as last observed, and the age of the oldest one that is due; zero if none is. It asks neither the
    /// store nor the broker, because the figures matter most while one of them is unreachable.
    var readinessDetail: ReadinessDetail {
        ReadinessDetail(name: "outbox") {
            guard let backlog = self.backlog else { return nil }
            let age = backlog.age(at: self.now()).milliseconds / 1000
            return [("pending", Int64(backlog.count)), ("oldest_age_seconds", age)]
        }
    }
}

extension OutboxBacklog {
    /// How long the oldest due entry has been stored; zero if none is due.
    fileprivate func age(at now: Timestamp) -> Duration { oldest.map { max(.zero, now - $0) } ?? .zero }
}
