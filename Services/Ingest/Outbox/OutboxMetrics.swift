import Domain
import Foundations
import Metrics
import ServiceRuntime

struct OutboxMetrics: Sendable {
    let published = Metric.outboxPublished.counter()
    let swept = Metric.outboxSwept.counter()
    let republished = Metric.outboxRepublished.counter()
    let unconfirmed = Metric.outboxUnconfirmed.counter()
    let confirm = Metric.publishConfirmDuration.timer()
    private let pending = Metric.outboxPending.gauge()
    private let oldestAge = Metric.outboxOldestAge.gauge()

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
