import SecurePushCore
import ServiceRuntime

extension OutboxRelay {
    /// `"outbox":{"pending":N,"oldest_age_seconds":S}` in ingest's answer to `/readyz`: what waits to be published, as
    /// it was at the last look, and the age of the oldest of it that is due; zero when none is. Asks nobody, for it
    /// must be told above all while the store or the broker is away.
    var readinessDetail: ReadinessDetail {
        ReadinessDetail(name: "outbox") {
            guard let backlog = self.backlog else { return nil }
            let age = backlog.age(at: self.now()).milliseconds / 1000
            return [("pending", Int64(backlog.count)), ("oldest_age_seconds", age)]
        }
    }
}
