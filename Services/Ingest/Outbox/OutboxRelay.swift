import Logging
import Metrics
import SecurePushCore
import ServiceLifecycle
import Synchronization

/// Publishes the IDs of stored notifications and takes them out of the outbox once the broker has confirmed them.
///
/// The fast path is in memory: what a request has stored is handed over here and published with whatever else has come
/// meanwhile. The sweep finds what the fast path did not bring through: what a crash or a broker's outage left, and
/// what `NotBefore` holds back. Answers to senders never wait for any of it.
final class OutboxRelay: Service {
    private let outbox: any Outbox
    private let publisher: any DispatchPublisher
    private let logger: Logger
    private let metrics = OutboxMetrics()
    /// Bounded by ``Limit/waiting``.
    private let mailbox = Mailbox<OutboxEntry>()

    enum Limit {
        /// What may wait in memory; beyond it the outbox's own entry is enough, and the sweep finds it.
        static let waiting = 20_000
        /// IDs published in one go.
        static let group = 512
        /// Groups that wait for their confirms at the same time.
        static let groupsInFlight = 8
        /// IDs leased by one sweep.
        static let lease = 1000
        /// Groups of a sweep that wait for their confirms at the same time.
        static let sweepsInFlight = 4
    }

    enum Interval {
        /// A fifth of what `NotBefore` is promised to be late at most: what remains is for ten thousand that fall due
        /// together. A look that finds nothing writes nothing.
        static let sweep = Duration.milliseconds(200)
        /// How long a leased entry is this process's own.
        static let lease = Duration.seconds(15)
    }

    init(outbox: any Outbox, publisher: any DispatchPublisher, logger: Logger) {
        self.outbox = outbox
        self.publisher = publisher
        self.logger = logger
    }

    /// Takes over stored notifications that are due now. Returns at once.
    func handOver(_ notifications: [Notification]) {
        guard publisher.isConnected, mailbox.count < Limit.waiting else { return }
        mailbox.put(
            notifications.lazy.filter { $0.notBefore == nil }.map {
                OutboxEntry(id: $0.id, traceparent: $0.traceparent)
            })
    }

    /// Runs until a graceful shutdown, then publishes what is still in memory.
    func run() async throws {
        await withTaskGroup { group in
            group.addTask { await self.publishHandedOver() }
            group.addTask { await self.sweep() }
            group.addTask { await self.observe() }
            // The sweep and the observation end with the shutdown, the publishing once the box is empty.
            try? await gracefulShutdown()
            mailbox.close()
            await group.waitForAll()
        }
    }

    private func publishHandedOver() async {
        await withTaskGroup(of: Void.self) { group in
            var inFlight = 0
            while let entries = await mailbox.take(limit: Limit.group) {
                if inFlight == Limit.groupsInFlight {
                    await group.next()
                    inFlight -= 1
                }
                inFlight += 1
                group.addTask { _ = await self.publish(entries) }
            }
            await group.waitForAll()
        }
    }

    /// Leases what is due and publishes it, group after group, so that a long backlog does not flood the broker.
    ///
    /// While groups wait for their confirms the next are leased: what many senders have scheduled for the same second
    /// would else wait for one round trip after the other.
    private func sweep() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Int.self) { group in
                var inFlight = 0
                while !Task.isCancelled {
                    var goesOn = true
                    if inFlight == Limit.sweepsInFlight {
                        // A broker that confirms nothing is not given lease after lease.
                        goesOn = await group.next() ?? 0 > 0
                        inFlight -= 1
                    }
                    let entries = self.publisher.isConnected ? await self.lease() : []
                    if !entries.isEmpty {
                        inFlight += 1
                        group.addTask { await self.publishLeased(entries) }
                    }
                    if entries.count < Limit.lease || !goesOn { try? await Task.sleep(for: Interval.sweep) }
                }
            }
        }
    }

    private func lease() async -> [OutboxEntry] {
        let now = Timestamp.now
        do {
            return try await outbox.lease(limit: Limit.lease, now: now, until: now + Interval.lease)
        } catch {
            logger.warning("the outbox cannot be swept", metadata: ["error": "\(error)"])
            return []
        }
    }

    /// - Returns: how many were confirmed.
    private func publishLeased(_ entries: [OutboxEntry]) async -> Int {
        let published = await publish(entries)
        metrics.swept.increment(by: published)
        return published
    }

    /// Publishes a group and takes what was confirmed out of the outbox; the rest stays there.
    ///
    /// - Returns: how many were confirmed.
    private func publish(_ entries: [OutboxEntry]) async -> Int {
        let start = ContinuousClock.now
        let messages = entries.map { DispatchMessage(id: $0.id, traceparent: $0.traceparent) }
        let results = await publisher.publish(messages, to: .dispatch)
        metrics.confirm.recordNanoseconds(start.duration(to: .now).nanoseconds)
        var confirmed: [NotificationID] = []
        confirmed.reserveCapacity(entries.count)
        var failure: MessagingError?
        for (entry, result) in zip(entries, results) {
            switch result {
            case .success: confirmed.append(entry.id)
            case .failure(let error): failure = error
            }
        }
        if let failure {
            let unconfirmed = entries.count - confirmed.count
            metrics.unconfirmed.increment(by: unconfirmed)
            logger.warning(
                "some IDs were not confirmed and stay in the outbox",
                metadata: ["count": "\(unconfirmed)", "error": "\(failure)"])
        }
        await remove(confirmed)
        return confirmed.count
    }

    private func remove(_ ids: [NotificationID]) async {
        guard !ids.isEmpty else { return }
        do {
            try await outbox.remove(ids)
            metrics.published.increment(by: ids.count)
        } catch {
            // They fall due again and are published twice, which the dispatcher's record makes harmless.
            logger.warning("published IDs stay in the outbox for now", metadata: ["error": "\(error)"])
        }
    }

    private func observe() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if let backlog = try? await self.outbox.backlog(now: .now) { self.metrics.observe(backlog) }
                try? await Task.sleep(for: .seconds(5))
            }
        }
    }
}

extension Duration {
    /// Whole nanoseconds.
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
