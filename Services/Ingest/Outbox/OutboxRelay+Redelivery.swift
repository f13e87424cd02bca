import Domain
import Foundations
import Logging
import Metrics
import ServiceLifecycle
import Synchronization

extension OutboxRelay {
    /// Republishes IDs that the broker lost: wiped, purged, expired or dropped.
    ///
    /// It checks the dispatch queue first. Without evidence of a loss (``LostMessageDetector``) it touches no entry, so
    /// a long but healthy queue is not changed.
    func redeliver() async {
        await cancelWhenGracefulShutdown {
            var detector = LostMessageDetector(quietPeriod: self.timing.quietPeriod)
            // Whether more IDs are known to be lost than were republished.
            var hasMore = false
            while !Task.isCancelled {
                // Taken before the question: entries that fall due during it may be published meanwhile.
                let (instant, time) = (ContinuousClock.now, self.now())
                let ready = self.publisher.isConnected ? await self.probe.readyDispatches() : nil
                detector.observe(ready, at: instant, now: time)
                if ready == nil { hasMore = false }
                if let lostBy = detector.lostBy, let ready, ready <= Limit.maxReady {
                    hasMore = await self.republish(dueBy: lostBy)
                }
                try? await Task.sleep(for: hasMore ? self.timing.sweepInterval : self.timing.queueCheckInterval)
            }
        }
    }

    /// Leases lost entries and publishes them, group after group, up to the limit of the queue.
    ///
    /// - Returns: whether there may be more.
    private func republish(dueBy lostBy: Timestamp) async -> Bool {
        var published = 0
        while published <= Limit.maxReady, !Task.isCancelled {
            let lease: PublishedLease
            do {
                let now = now()
                lease = try await outbox.leasePublished(
                    limit: Limit.leaseSize, due: lostBy, now: now, until: now + timing.redeliveryDelay)
            } catch {
                storeProblem.failed("\(error)", to: logger, metadata: ["task": "redelivery"])
                return false
            }
            if !lease.entries.isEmpty {
                let confirmed = await publish(lease.entries).count
                metrics.republished.increment(by: confirmed)
                logger.notice("Republished IDs that the broker had lost", metadata: ["count": "\(confirmed)"])
                guard confirmed == lease.entries.count else { return false }
                published += confirmed
            }
            guard lease.examined == Limit.leaseSize else { return false }
        }
        return true
    }

    /// Marks confirmed IDs as published in the outbox after ``OutboxTiming/confirmDelay``.
    func confirmDue() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                await self.confirm(self.confirmed.removeDue(at: .now))
                try? await Task.sleep(for: self.timing.confirmInterval)
            }
        }
    }

    func confirm(_ ids: [NotificationID]) async {
        for start in stride(from: 0, to: ids.count, by: Limit.leaseSize) {
            await confirm(group: ids[start..<min(start + Limit.leaseSize, ids.count)])
        }
    }

    /// Divides a group that is refused, unless the store refuses everything: one ID must not hold up the others.
    private func confirm(group: ArraySlice<NotificationID>, isPart: Bool = false) async {
        let until = now() + timing.redeliveryDelay
        do {
            try await outbox.confirm(Array(group), until: until)
        } catch {
            var isDivided = group.count > 1 && (error as? StorageError)?.isRetriable == false
            if isDivided, !isPart {
                // If it refuses an ID that does not exist, it refuses everything.
                isDivided = (try? await outbox.confirm([NotificationID()], until: until)) != nil
            }
            guard isDivided else {
                // They fall due again and are published twice, which the dispatcher's record makes harmless.
                return storeProblem.failed("\(error)", to: logger, metadata: ["task": "confirm"])
            }
            let middle = group.startIndex + group.count / 2
            await confirm(group: group[..<middle], isPart: true)
            await confirm(group: group[middle...], isPart: true)
        }
    }
}

/// The relay's intervals and delays. They are not settings, because they depend on each other. Tests shorten them.
struct OutboxTiming: Sendable {
    /// How often the sweep looks for unpublished entries: a fifth of the 1 s by which `NotBefore` may be late. The rest
    /// is for publishing ten thousand entries that fall due together. A sweep that finds nothing writes nothing.
    var sweepInterval = Duration.milliseconds(200)
    /// How often the sweep looks for due follow-ups.
    var followUpInterval = Duration.milliseconds(500)
    /// How long a leased entry belongs to this process.
    var leaseDuration = Duration.seconds(15)
    /// The time from publishing to marking an entry as published, if it still exists. By then nearly all notifications
    /// are dispatched and their entries removed. It is well below ``OutboxPolicy/grace``, after which another process
    /// would take the entry for unpublished.
    var confirmDelay = Duration.seconds(2)
    /// How often due confirms are written.
    var confirmInterval = Duration.milliseconds(250)
    /// How long after publishing an entry that is not settled may be published again.
    var redeliveryDelay = OutboxPolicy.redelivery
    /// How often the dispatch queue is checked.
    var queueCheckInterval = Duration.seconds(2)
    /// How long the dispatch queue must have been empty at every check; see ``LostMessageDetector``.
    var quietPeriod = Duration.seconds(4)

    static let standard = OutboxTiming()
}

/// Detects messages that the broker no longer holds, from observations of the dispatch queue.
///
/// A queue that was empty at every observation for the quiet period has delivered everything that it was given before,
/// and dispatchers claim what they receive at once. So an entry that fell due before the end of that period, and is
/// neither settled nor claimed, is lost. A short queue that is not empty proves nothing: if no dispatcher runs, a few
/// waiting IDs would be republished again and again, and later be sent by several dispatchers at the same time.
///
/// Republished IDs are in the queue themselves. The earlier evidence stays valid; there is new evidence only after the
/// queue has been empty again.
struct LostMessageDetector {
    private let quietPeriod: Duration
    private var emptySince: ContinuousClock.Instant?
    /// Entries that were due by this time and still exist are lost; `nil` until there is evidence.
    private(set) var lostBy: Timestamp?

    init(quietPeriod: Duration) { self.quietPeriod = quietPeriod }

    /// Adds an observation.
    ///
    /// - Parameters:
    ///   - ready: the number of ready messages; `nil` if unknown, which resets the quiet period.
    ///   - instant: the time at which the broker was asked, as is `now`.
    mutating func observe(_ ready: Int?, at instant: ContinuousClock.Instant, now: Timestamp) {
        guard ready == 0 else {
            emptySince = nil
            return
        }
        let since = emptySince ?? instant
        emptySince = since
        if since.duration(to: instant) >= quietPeriod { lostBy = now }
    }
}

/// IDs that the broker has confirmed and that are not yet marked as published in the outbox.
///
/// Nearly all are dispatched before they are due here, and their entries are removed by then. Marking each at once
/// would cost every notification one more version of its row. If the process dies, their entries look unpublished; the
/// sweep republishes those that no dispatcher has claimed.
final class ConfirmedIDs: Sendable {
    private struct Group {
        var dueAt: ContinuousClock.Instant
        var ids: [NotificationID]
    }

    private struct State {
        /// In the order of their confirms.
        var groups: [Group] = []
        var count = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// - Parameter limit: the number of IDs to keep; the oldest of any further ones are due at once.
    init(limit: Int) { self.limit = limit }

    /// Adds IDs that are due at a time.
    func insert(_ ids: [NotificationID], until dueAt: ContinuousClock.Instant) {
        guard !ids.isEmpty else { return }
        state.withLock { state in
            state.groups.append(Group(dueAt: dueAt, ids: ids))
            state.count += ids.count
        }
    }

    /// Removes the IDs that are due, and any above the limit.
    func removeDue(at now: ContinuousClock.Instant) -> [NotificationID] {
        state.withLock { state in
            var removed: [NotificationID] = []
            state.groups.removeAll { group in
                guard group.dueAt <= now || state.count > limit else { return false }
                state.count -= group.ids.count
                removed += group.ids
                return true
            }
            return removed
        }
    }

    func removeAll() -> [NotificationID] {
        state.withLock { state in
            defer { state = State() }
            return state.groups.flatMap(\.ids)
        }
    }
}
