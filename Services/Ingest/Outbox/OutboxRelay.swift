import Domain
import Foundations
import Logging
import Metrics
import ServiceLifecycle
import Synchronization

/// Publishes the IDs of stored notifications, and republishes the IDs that the broker loses.
///
/// The fast path is in memory: requests hand over the notifications that they have stored, and the relay publishes
/// them in groups. The sweep publishes the rest: entries left by a crash or an outage of the broker, entries that
/// `NotBefore` delayed, and follow-ups that are due. The redelivery republishes messages that the broker lost after it
/// had confirmed them. Responses to senders never wait for any of this.
///
/// Decision: docs/decisions/0001-state-in-the-database.md
final class OutboxRelay: Service {
    let outbox: any NotificationWriter
    let publisher: any DispatchPublisher
    let probe: any DispatchQueueProbe
    let timing: OutboxTiming
    let now: @Sendable () -> Timestamp
    let logger: Logger
    let metrics = OutboxMetrics()
    let storeProblem = LastingProblemLog(
        "The outbox cannot be reached; its entries stay pending", end: "The outbox can be reached again")
    private let followUpProblem = LastingProblemLog(
        "The follow-ups cannot be reached; they stay due", end: "The follow-ups can be reached again")
    private let confirmProblem = LastingProblemLog(
        "The broker did not confirm some IDs; they stay in the outbox", end: "The broker confirms IDs again")
    let confirmed = ConfirmedIDs(limit: Limit.maxConfirmed)
    /// Bounded by ``Limit/maxWaiting``.
    private let mailbox = Mailbox<OutboxEntry>()
    private let lastBacklog = Mutex<OutboxBacklog?>(nil)

    enum Limit {
        /// Entries that may wait in memory. Any further entry stays in the outbox for the sweep.
        static let maxWaiting = 20_000
        /// IDs per call of the publisher.
        static let groupSize = 512
        /// Groups that wait for their confirms at the same time.
        static let maxGroupsInFlight = 8
        /// IDs per statement that leases or confirms entries.
        static let leaseSize = 1000
        /// Groups of a sweep that wait for their confirms at the same time.
        static let maxSweepsInFlight = 4
        /// Confirmed IDs in memory: 1 MB, and more than two seconds' worth at any rate that can be reached.
        static let maxConfirmed = 60_000
        /// Lost messages are republished only while the dispatch queue has at most this many ready messages.
        static let maxReady = 1000
    }

    init(
        outbox: any NotificationWriter, publisher: any DispatchPublisher, probe: any DispatchQueueProbe,
        timing: OutboxTiming = .standard, now: @escaping @Sendable () -> Timestamp = { .now },
        logger: Logger
    ) {
        self.outbox = outbox
        self.publisher = publisher
        self.probe = probe
        self.timing = timing
        self.now = now
        self.logger = logger
    }

    /// The backlog as last observed, a few seconds ago; `nil` before the first observation.
    var backlog: OutboxBacklog? { lastBacklog.withLock { $0 } }

    /// Whether an entry that is handed over now would be taken.
    var takesEntries: Bool { publisher.isConnected && mailbox.count < Limit.maxWaiting }

    /// Takes over the stored notifications that are due now. Returns at once.
    ///
    /// This is the only place that marks a first message (``DispatchMessage/isFirst``). Call it once for each
    /// notification: its entry is taken from memory once and published once, whatever comes of it. Everything later is
    /// published by the sweep or the redelivery, which know nothing of the mark.
    func handOver(_ notifications: [SealedNotification]) {
        handOver(
            entries: notifications.lazy.filter { $0.notification.notBefore == nil }.map {
                OutboxEntry(
                    id: $0.notification.id, traceparent: $0.notification.traceparent, isFirst: $0.claimsFirstAttempt)
            })
    }

    /// Takes over outbox entries that are due now, up to the capacity of the mailbox. Returns at once.
    func handOver(entries: some Sequence<OutboxEntry>) {
        guard publisher.isConnected else { return }
        mailbox.put(entries.prefix(max(0, Limit.maxWaiting - mailbox.count)))
    }

    /// Runs until a graceful shutdown, then publishes the entries that are still in memory.
    func run() async throws {
        await withTaskGroup { group in
            group.addTask(executorPreference: publisher.executor) { await self.publishHandedOver() }
            group.addTask { await self.sweep() }
            group.addTask { await self.redeliver() }
            group.addTask { await self.confirmDue() }
            group.addTask { await self.observe() }
            // The shutdown ends all tasks except publishing, which ends when the mailbox is empty.
            try? await gracefulShutdown()
            mailbox.close()
            await group.waitForAll()
        }
        await confirm(confirmed.removeAll())
    }

    private func publishHandedOver() async {
        await withTaskGroup(of: Void.self) { group in
            var inFlight = 0
            while let entries = await mailbox.take(limit: Limit.groupSize) {
                if inFlight == Limit.maxGroupsInFlight {
                    await group.next()
                    inFlight -= 1
                }
                inFlight += 1
                group.addTask { await self.publishAndRemember(entries) }
            }
            await group.waitForAll()
        }
    }

    /// Leases and publishes the entries that are due, in groups, so that a long backlog does not flood the broker.
    ///
    /// The next groups are leased while others wait for their confirms. Otherwise notifications that many senders have
    /// scheduled for the same second would wait for one round trip after another.
    private func sweep() async {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Int.self) { group in
                var inFlight = 0
                var followUpsLeased: ContinuousClock.Instant?
                while !Task.isCancelled {
                    var goesOn = true
                    if inFlight == Limit.maxSweepsInFlight {
                        // Stop leasing while the broker confirms nothing.
                        goesOn = await group.next() ?? 0 > 0
                        inFlight -= 1
                    }
                    let entries = self.publisher.isConnected ? await self.leaseDue(&followUpsLeased) : []
                    if !entries.isEmpty {
                        inFlight += 1
                        group.addTask { await self.publishLeased(entries) }
                    }
                    if entries.count < Limit.leaseSize || !goesOn {
                        try? await Task.sleep(for: self.timing.sweepInterval)
                    }
                }
            }
        }
    }

    /// Leases notifications, and from time to time follow-ups, which wait while notifications fill a group.
    private func leaseDue(_ followUpsLeased: inout ContinuousClock.Instant?) async -> [OutboxEntry] {
        let entries = await lease()
        let isTime = followUpsLeased.map { $0.duration(to: .now) >= timing.followUpInterval } ?? true
        guard entries.count < Limit.leaseSize, isTime else { return entries }
        let all = entries + (await leaseFollowUps(limit: Limit.leaseSize - entries.count))
        // At once again if there may be more.
        followUpsLeased = all.count < Limit.leaseSize ? .now : nil
        return all
    }

    private func lease() async -> [OutboxEntry] {
        let now = now()
        do {
            let entries = try await outbox.lease(limit: Limit.leaseSize, now: now, until: now + timing.leaseDuration)
            storeProblem.succeeded(to: logger)
            return entries
        } catch {
            storeProblem.failed("\(error)", to: logger, metadata: ["task": "sweep"])
            return []
        }
    }

    private func leaseFollowUps(limit: Int) async -> [OutboxEntry] {
        guard publisher.isConnected else { return [] }
        do {
            let entries = try await outbox.leaseFollowUps(limit: limit, now: now())
            followUpProblem.succeeded(to: logger)
            return entries
        } catch {
            followUpProblem.failed("\(error)", to: logger, metadata: ["task": "follow-ups"])
            return []
        }
    }

    /// - Returns: the number of confirmed IDs.
    private func publishLeased(_ entries: [OutboxEntry]) async -> Int {
        let published = await publishAndRemember(entries)
        metrics.swept.increment(by: published)
        return published
    }

    /// Publishes a group of unpublished entries and remembers the confirmed IDs for ``confirmDue()``.
    ///
    /// - Returns: the number of confirmed IDs.
    @discardableResult
    private func publishAndRemember(_ entries: [OutboxEntry]) async -> Int {
        let start = ContinuousClock.now
        let published = await publish(entries)
        // The store keeps no confirm of a published follow-up, which waits for its claim.
        confirmed.insert(published.filter { $0.kind == nil }.map(\.id), until: start + timing.confirmDelay)
        return published.count
    }

    /// Publishes a group.
    ///
    /// - Returns: the confirmed entries.
    func publish(_ entries: [OutboxEntry]) async -> [OutboxEntry] {
        let start = ContinuousClock.now
        let messages = entries.map {
            DispatchMessage(id: $0.id, traceparent: $0.traceparent, kind: $0.kind, isFirst: $0.isFirst)
        }
        let results = await publisher.publish(messages, to: .dispatch)
        metrics.confirm.record(duration: start.duration(to: .now))
        var confirmed: [OutboxEntry] = []
        confirmed.reserveCapacity(entries.count)
        var failure: MessagingError?
        for (entry, result) in zip(entries, results) {
            switch result {
            case .success: confirmed.append(entry)
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
