import Logging
import Metrics
import SecurePushCore
import ServiceLifecycle
import Synchronization

/// Publishes the IDs of stored notifications, and again whatever of them gets lost.
///
/// The fast path is in memory: what a request has stored is handed over here and published with whatever else has come
/// meanwhile. The sweep finds what the fast path did not bring through: what a crash or a broker's outage left, and
/// what `NotBefore` holds back. The redelivery finds what the broker has lost after it had confirmed it. Answers to
/// senders never wait for any of it.
final class OutboxRelay: Service {
    let outbox: any Outbox
    let publisher: any DispatchPublisher
    let gauge: any DispatchGauge
    let pace: OutboxTiming
    let now: @Sendable () -> Timestamp
    let logger: Logger
    let metrics = OutboxMetrics()
    let storeProblem = LastingProblemLog(
        "The outbox cannot be reached; its entries wait.", end: "The outbox can be reached again.")
    private let confirmProblem = LastingProblemLog(
        "Some IDs were not confirmed by the broker and stay in the outbox.", end: "The broker confirms IDs again.")
    let confirmed = ConfirmedIDs(limit: Limit.confirmed)
    /// Bounded by ``Limit/waiting``.
    private let mailbox = Mailbox<OutboxEntry>()
    private let lastBacklog = Mutex<OutboxBacklog?>(nil)

    enum Limit {
        /// What may wait in memory; beyond it the outbox's own entry is enough, and the sweep finds it.
        static let waiting = 20_000
        /// IDs published in one go.
        static let group = 512
        /// Groups that wait for their confirms at the same time.
        static let groupsInFlight = 8
        /// IDs leased, or noted as published, in one statement.
        static let lease = 1000
        /// Groups of a sweep that wait for their confirms at the same time.
        static let sweepsInFlight = 4
        /// Confirmed IDs kept in memory before it is noted: two seconds of a rate that is out of reach, in 1 MB.
        static let confirmed = 60_000
        /// Ready messages of the dispatch queue up to which lost ones are added to it.
        static let ready = 1000
    }

    init(
        outbox: any Outbox, publisher: any DispatchPublisher, gauge: any DispatchGauge, pace: OutboxTiming = .standard,
        now: @escaping @Sendable () -> Timestamp = { .now }, logger: Logger
    ) {
        self.outbox = outbox
        self.publisher = publisher
        self.gauge = gauge
        self.pace = pace
        self.now = now
        self.logger = logger
    }

    /// What waited at the last look, a few seconds ago; `nil` before the first.
    var backlog: OutboxBacklog? { lastBacklog.withLock { $0 } }

    /// Takes over stored notifications that are due now. Returns at once.
    func handOver(_ notifications: [Notification]) {
        handOver(
            entries: notifications.lazy.filter { $0.notBefore == nil }.map {
                OutboxEntry(id: $0.id, traceparent: $0.traceparent)
            })
    }

    /// Takes over entries of the outbox that are due now, as many as there is room for. Returns at once.
    func handOver(entries: some Sequence<OutboxEntry>) {
        guard publisher.isConnected else { return }
        mailbox.put(entries.prefix(max(0, Limit.waiting - mailbox.count)))
    }

    /// Runs until a graceful shutdown, then publishes what is still in memory.
    func run() async throws {
        await withTaskGroup { group in
            group.addTask { await self.publishHandedOver() }
            group.addTask { await self.sweep() }
            group.addTask { await self.redeliver() }
            group.addTask { await self.note() }
            group.addTask { await self.observe() }
            // All but the publishing ends with the shutdown, and that once the box is empty.
            try? await gracefulShutdown()
            mailbox.close()
            await group.waitForAll()
        }
        await note(confirmed.takeAll())
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
                group.addTask { await self.publishAndKeep(entries) }
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
                    if entries.count < Limit.lease || !goesOn { try? await Task.sleep(for: self.pace.sweep) }
                }
            }
        }
    }

    private func lease() async -> [OutboxEntry] {
        let now = now()
        do {
            let entries = try await outbox.lease(limit: Limit.lease, now: now, until: now + pace.lease)
            storeProblem.succeeded(to: logger)
            return entries
        } catch {
            storeProblem.failed("\(error)", to: logger, metadata: ["task": "sweep"])
            return []
        }
    }

    /// - Returns: how many were confirmed.
    private func publishLeased(_ entries: [OutboxEntry]) async -> Int {
        let published = await publishAndKeep(entries)
        metrics.swept.increment(by: published)
        return published
    }

    /// Publishes a group of unpublished entries, and keeps what was confirmed to be noted; the rest stays as it is.
    ///
    /// - Returns: how many were confirmed.
    @discardableResult
    private func publishAndKeep(_ entries: [OutboxEntry]) async -> Int {
        let start = ContinuousClock.now
        let ids = await publish(entries)
        confirmed.keep(ids, until: start + pace.note)
        return ids.count
    }

    /// Publishes a group.
    ///
    /// - Returns: those that were confirmed.
    func publish(_ entries: [OutboxEntry]) async -> [NotificationID] {
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
        metrics.published.increment(by: confirmed.count)
        if let failure {
            let unconfirmed = entries.count - confirmed.count
            metrics.unconfirmed.increment(by: unconfirmed)
            confirmProblem.failed("\(failure)", to: logger, metadata: ["count": "\(unconfirmed)"])
        } else if !entries.isEmpty {
            confirmProblem.succeeded(to: logger)
        }
        return confirmed
    }

    private func observe() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                if let backlog = try? await self.outbox.backlog(now: self.now()) {
                    self.metrics.observe(backlog)
                    self.lastBacklog.withLock { $0 = backlog }
                }
                try? await Task.sleep(for: .seconds(5))
            }
        }
    }
}

extension Duration {
    /// Whole nanoseconds.
    var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
