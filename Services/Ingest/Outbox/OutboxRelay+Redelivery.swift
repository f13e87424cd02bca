import Logging
import Metrics
import SecurePushCore
import ServiceLifecycle

extension OutboxRelay {
    /// Publishes again what the broker has lost: wiped, purged, expired or dropped.
    ///
    /// It looks at the dispatch queue first, and without evidence (``LostMessageDetector``) touches no entry, so that a
    /// long queue that is healthy is left alone.
    func redeliver() async {
        await cancelWhenGracefulShutdown {
            var evidence = LostMessageDetector(calm: self.pace.calm)
            // Whether more is known to have been lost than was published again.
            var hasMore = false
            while !Task.isCancelled {
                // From before the question: what falls due while it is answered may have been published meanwhile.
                let (instant, time) = (ContinuousClock.now, self.now())
                let ready = self.publisher.isConnected ? await self.gauge.readyDispatches() : nil
                evidence.see(ready, at: instant, now: time)
                if ready == nil { hasMore = false }
                if let lostBy = evidence.lostBy, let ready, ready <= Limit.ready {
                    hasMore = await self.republish(dueBy: lostBy)
                }
                try? await Task.sleep(for: hasMore ? self.pace.sweep : self.pace.look)
            }
        }
    }

    /// Leases what was lost and publishes it, group after group while there is room in the queue.
    ///
    /// - Returns: whether there may be more.
    private func republish(dueBy lostBy: Timestamp) async -> Bool {
        var published = 0
        while published <= Limit.ready, !Task.isCancelled {
            let lease: PublishedLease
            do {
                let now = now()
                lease = try await outbox.leasePublished(
                    limit: Limit.lease, due: lostBy, now: now, until: now + pace.redelivery)
            } catch {
                storeProblem.failed("\(error)", to: logger, metadata: ["task": "redelivery"])
                return false
            }
            if !lease.entries.isEmpty {
                let confirmed = await publish(lease.entries).count
                metrics.republished.increment(by: confirmed)
                logger.notice("IDs that the broker had lost were published again", metadata: ["count": "\(confirmed)"])
                guard confirmed == lease.entries.count else { return false }
                published += confirmed
            }
            guard lease.examined == Limit.lease else { return false }
        }
        return true
    }

    /// Notes in the outbox what the broker has confirmed, late.
    func note() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.note(self.confirmed.take(at: .now))
                try? await Task.sleep(for: self.pace.noting)
            }
        }
    }

    func note(_ ids: [NotificationID]) async {
        for start in stride(from: 0, to: ids.count, by: Limit.lease) {
            let group = Array(ids[start..<min(start + Limit.lease, ids.count)])
            do {
                try await outbox.confirm(group, until: now() + pace.redelivery)
            } catch {
                // They fall due again and are published twice, which the dispatcher's record makes harmless.
                storeProblem.failed("\(error)", to: logger, metadata: ["task": "confirm"])
            }
        }
    }
}
