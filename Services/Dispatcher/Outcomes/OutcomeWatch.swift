import Domain
import Foundations
import Logging
import ServiceLifecycle

/// Asks the hub for the outcomes of the messages that it has accepted, and stores the answers (`HUB_TELEMETRY`).
///
/// Of all dispatchers only the one with the lease asks, so the rate is that of all together. The places that it has
/// reached are in the store: another process goes on there after a crash. Pushes do not wait for this.
///
/// Decision: docs/decisions/0003-one-lane-per-platform-and-hub.md
actor OutcomeWatch: Service {
    private let store: any DispatchStore
    private let questions: OutcomeQuestions
    private let logger: Logger
    private let count: @Sendable (MessageOutcome, Platform) -> Void
    private let clock: @Sendable () -> Timestamp
    private let holder = Int64.random(in: 1...Int64.max)
    private var hasLease = false
    /// Whether this process has asked since it has the lease.
    private var hasSwept = false
    /// When the passes last had to wait for something else than the rate: for the hubs, or for the store.
    private var heldAt: Timestamp?
    private var skipLoggedAt: Timestamp?
    private let storeProblem = LastingProblemLog(
        "Outcomes of messages cannot be read or stored at the moment", end: "Outcomes of messages are stored again")

    /// The pause when everything that is due was asked for.
    private static let interval = Duration.seconds(5)
    /// The longest pause, also while another dispatcher has the lease.
    private static let standby = Duration.seconds(15)
    /// The lease from each renewal on. It is longer than ``standby``, and longer than one page of questions takes.
    static let lease = Duration.seconds(60)
    /// Notifications in a page.
    private static let pageLimit = 30
    /// If a pass is later than this, it leaves notifications out, so that outcomes do not come later and later.
    private static let maxDelay = Duration.seconds(5400)
    /// The notifications that a pass begins with if nobody has asked, or could ask, for long.
    private static let firstRange = Duration.seconds(1800)

    /// - Parameters:
    ///   - count: counts an outcome that was stored; tests use another one.
    ///   - clock: the time; tests use another one.
    init(
        store: any DispatchStore, hub: any HubTelemetry, logger: Logger,
        count: @escaping @Sendable (MessageOutcome, Platform) -> Void = { OutcomeMetrics.count($0, $1) },
        clock: @escaping @Sendable () -> Timestamp = { .now }
    ) {
        self.store = store
        questions = OutcomeQuestions(hub: hub, logger: logger, clock: clock)
        self.logger = logger
        self.count = count
        self.clock = clock
    }

    /// Asks until shutdown, and then gives the lease back.
    nonisolated func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                let pause = await self.sweep()
                // Throws if the task is cancelled, which ends the loop.
                try? await Task.sleep(for: pause)
            }
        }
        await release()
    }

    /// Asks for one page of each pass.
    ///
    /// - Returns: the pause before the next sweep.
    func sweep() async -> Duration {
        let now = clock()
        do {
            let leased = try await store.leaseOutcomes(holder: holder, now: now, until: now + Self.lease)
            hasLease = leased != nil
            guard let leased else {
                // A delay that another process leaves behind is not this one's.
                hasSwept = false
                return Self.standby
            }
            if let pause = await pause() { return pause }
            var places = places(after: leased, now: now)
            hasSwept = true
            var isEnd = true
            for (index, pass) in OutcomePass.all.enumerated() {
                try Task.checkCancellation()
                let query = OutcomeQuery(
                    order: pass.order, after: places[index], before: now - pass.delay, limit: Self.pageLimit)
                let page = try await store.awaitingOutcome(query)
                let answers = await questions.ask(page, after: places[index])
                try await record(answers.outcomes)
                // Only after the outcomes are stored: if that fails, the same messages are asked for again.
                for message in answers.messages { count(message.outcome, message.platform) }
                places[index] = answers.next
                if !page.entries.isEmpty, try await !save(places) { return Self.standby }
                if let pause = await pause() { return pause }
                isEnd = isEnd && page.isEnd && answers.next == page.next
            }
            guard try await save(places) else { return Self.standby }
            storeProblem.succeeded(to: logger)
            return isEnd ? Self.interval : .zero
        } catch let error as StorageError where error.isRetriable {
            // While the service starts, and while the database is unavailable, which its own log lines say.
            logger.debug("The store was not available for outcomes", metadata: ["error": "\(error)"])
        } catch is CancellationError {
            return .zero
        } catch {
            storeProblem.failed("\(error)", to: logger)
        }
        heldAt = clock()
        return Self.interval
    }

    /// Stores the outcomes of a page. A notification whose outcomes the store refuses for good does not stop the pass.
    private func record(_ outcomes: [DeliveryOutcomes]) async throws {
        if outcomes.isEmpty { return }
        let write = GroupWrite<DeliveryOutcomes, Void> { [store] in
            try await store.recordOutcomes($0)
        } probe: { [store] in
            try await store.recordOutcomes([DeliveryOutcomes(id: NotificationID(), attempt: 1, deliveries: [])])
        }
        let result = await write(outcomes)
        if let failure = result.failure { throw failure }
        guard let (refused, error) = result.refused.first else { return }
        logger.warning(
            "The store refuses the outcomes of some messages, and they are left out",
            metadata: [
                "notification_id": "\(refused.id)", "count": "\(result.refused.count)", "error": "\(error)",
            ])
    }

    /// Where the passes go on.
    private func places(after leased: [OutcomeCursor], now: Timestamp) -> [OutcomeCursor] {
        // Only a pass that could ask all the time is late because of the rate.
        let wasHeld = !hasSwept || heldAt.map { $0 > now - Self.maxDelay } == true
        var skipped: [(from: Timestamp, until: Timestamp)] = []
        let places: [OutcomeCursor] = OutcomePass.all.enumerated().map { index, pass in
            let end = now - pass.delay
            let first = OutcomeCursor(before: end - Self.firstRange)
            guard index < leased.count else { return first }
            if leased[index].time >= end - Self.maxDelay { return leased[index] }
            if wasHeld { return first }
            skipped.append((leased[index].time, end))
            return OutcomeCursor(before: end)
        }
        if let from = skipped.map(\.from).min(), let until = skipped.map(\.until).max() {
            logSkip(from: from, until: until, now: now)
        }
        return places
    }

    /// The passes become late one after another, so one line stands for all of them.
    private func logSkip(from: Timestamp, until: Timestamp, now: Timestamp) {
        if let skipLoggedAt, skipLoggedAt > now - Self.maxDelay { return }
        skipLoggedAt = now
        logger.notice(
            "Outcomes of some messages are skipped: pushes come faster than the hub may be asked",
            metadata: ["from": "\(from)", "until": "\(until)"])
    }

    /// Stores the places and renews the lease.
    ///
    /// - Returns: `false` if another dispatcher has the lease.
    private func save(_ places: [OutcomeCursor]) async throws -> Bool {
        hasLease = try await store.saveOutcomes(holder: holder, cursors: places, until: clock() + Self.lease)
        return hasLease
    }

    /// The pause while no hub may be asked; `nil` if one may be. It ends early, so that the lease is renewed: a lease
    /// of the whole pause would keep the others waiting for as long if this process died.
    private func pause() async -> Duration? {
        let now = clock()
        guard let pause = await questions.pause(now: now) else { return nil }
        heldAt = now
        return min(pause, Self.standby)
    }

    /// Lets another dispatcher go on at once.
    private func release() async {
        guard hasLease else { return }
        let end = Timestamp(milliseconds: 0)
        // The places are read again, because the sweep may have been cancelled before it stored them.
        guard let cursors = try? await store.leaseOutcomes(holder: holder, now: end, until: end) else { return }
        _ = try? await store.saveOutcomes(holder: holder, cursors: cursors, until: end)
    }
}
