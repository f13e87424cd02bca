import Domain
import Foundations
import Logging
import Metrics
import ServiceLifecycle
import ServiceRuntime
import Storage
import Synchronization

/// Pushes the stored pushes when they are due. If several processes share the database, each claims its part.
///
/// It sleeps until the next push is due. Every few seconds it looks for pushes that other processes have left.
final class RetryService: Service {
    private struct State: Sendable {
        /// The claimed pushes of each lane whose outcomes are not written yet.
        var busy: [HubLaneKey: Set<NotificationID>] = [:]
        var countedAt: ContinuousClock.Instant?
        var purgedAt: ContinuousClock.Instant?
        /// The lanes whose gauge was shown.
        var shown: Set<HubLaneKey> = []
    }

    private let delivery: HubDelivery
    private let logger: Logger
    private let state = Mutex(State())
    private let problem = LastingProblemLog(
        "Stored pushes cannot be read at the moment", end: "Stored pushes are read again")

    private static let countInterval = Duration.seconds(10)
    private static let purgeInterval = Duration.seconds(60)
    /// How long pushes in flight are waited for when the service stops.
    private static let drain = Duration.seconds(5)

    private var settings: DeliverySettings { delivery.settings }
    private var clock: DeliveryClock { delivery.clock }

    init(_ delivery: HubDelivery, logger: Logger) {
        self.delivery = delivery
        self.logger = logger
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let pause = await self.sweep()
                await self.delivery.alarm.wait(for: pause, self.clock)
            }
        }
        await delivery.finish(within: Self.drain)
    }

    /// Begins to push the due pushes.
    ///
    /// - Returns: the time until the next look.
    func sweep() async -> Duration {
        var pause = settings.standby
        do {
            let now = clock.now()
            let over = try await delivery.tables.claimPushesToGiveUp(
                limit: settings.maxRetries, claim: Self.makeClaim(), now: now, until: now + settings.claim)
            for row in over where !delivery.isUnderWay(row.id) { delivery.end(row, .over(.abandonedNotification)) }
            // There may be more.
            if over.count == settings.maxRetries { pause = .zero }
            let lanes = try await delivery.tables.nextPushes()
            for (key, due) in lanes {
                guard let lane = delivery.lanes.lane(key) else { continue }
                let wait = max(due - now, lane.pause)
                if wait > .zero { pause = min(pause, wait) } else { try await push(lane, now: now) }
            }
            try await look(lanes.keys)
            try await purge(now: now)
            problem.succeeded(to: logger)
        } catch is CancellationError {
            return .zero
        } catch {
            problem.failed(ErrorText.describe(error), to: logger)
            pause = .seconds(1)
        }
        return max(pause, .milliseconds(10))
    }

    /// Claims pushes of a lane, and begins to push them. When half of them have ended, there may be more: a push service
    /// that does not answer must not hold those of others.
    private func push(_ lane: PushLane, now: Timestamp) async throws {
        let key = lane.key
        // While the lane is paused, one push probes it.
        let isProbing = lane.isProbing
        let busy = state.withLock { $0.busy[key]?.count ?? 0 }
        guard busy <= (isProbing ? 0 : settings.maxRetries / 2) else { return }
        let claimed = try await delivery.tables.claimPushes(
            of: key, limit: isProbing ? 1 : settings.maxRetries - busy, claim: Self.makeClaim(), now: now,
            until: now + settings.claim)
        // A claim can end while the database is unavailable. A push of this process must not be repeated then.
        let rows = state.withLock { state in
            claimed.filter { !delivery.isUnderWay($0.id) && state.busy[key, default: []].insert($0.id).inserted }
        }
        if rows.isEmpty { return }
        delivery.inFlight.enter()
        Task {
            await withDiscardingTaskGroup { tasks in
                for row in rows {
                    tasks.addTask {
                        await self.push(row)
                        // The outcome is stored first, because otherwise the next look finds this push again.
                        await self.delivery.ends.waitUntilWritten()
                        self.release(row.id, key)
                    }
                }
            }
            delivery.inFlight.leave()
        }
    }

    /// A claimed push has ended.
    private func release(_ id: NotificationID, _ key: HubLaneKey) {
        let busy = state.withLock { state in
            state.busy[key]?.remove(id)
            let busy = state.busy[key]?.count ?? 0
            if busy == 0 { state.busy[key] = nil }
            return busy
        }
        if busy == 0 || busy == settings.maxRetries / 2 { delivery.alarm.ring(by: clock.now()) }
    }

    private func push(_ row: HubPush) async {
        guard let push = Push(row) else {
            logger.error("A stored push cannot be read, and is given up")
            return delivery.end(row, .over(.abandonedNotification))
        }
        let span = delivery.tracer.flatMap { PushSpan($0, push) }
        let verdict = await delivery.courier.deliver(push)
        span?.end(verdict)
        delivery.end(row, verdict)
    }

    private static func makeClaim() -> Int64 { .random(in: 1...Int64.max) }

    /// Whether a task that is done from time to time is due.
    private func isDue(
        _ last: any WritableKeyPath<State, ContinuousClock.Instant?> & Sendable, every interval: Duration
    ) -> Bool {
        let now = clock.instant()
        return state.withLock { state in
            if let done = state[keyPath: last], done.duration(to: now) < interval { return false }
            state[keyPath: last] = now
            return true
        }
    }

    /// Shows how many pushes wait, and applies the decisions of other processes about removals.
    private func look(_ lanes: some Sequence<HubLaneKey>) async throws {
        guard isDue(\.countedAt, every: Self.countInterval) else { return }
        delivery.graves.put([.look])
        let lanes = Set(lanes)
        let former = state.withLock { state in
            defer { state.shown = lanes }
            return state.shown
        }
        for key in lanes.union(former) {
            let waiting = try await delivery.tables.waitingPushes(of: key)
            Metric.hubRetriesWaiting.gauge(key.hub, key.platform).record(waiting)
        }
    }

    private func purge(now: Timestamp) async throws {
        guard isDue(\.purgedAt, every: Self.purgeInterval) else { return }
        if try await delivery.tables.purgeDeliveries(now: now, feedbackBefore: now - settings.retention) {
            state.withLock { $0.purgedAt = nil }
        }
    }
}
