import Logging
import Metrics
import SecurePushCore
import Synchronization

/// Stores outcomes, publishes what is to be tried again or given up, and acknowledges: in this order, in groups.
final class DispatchSettler: Sendable {
    private let consumer: any DispatchConsumer
    private let publisher: any DispatchPublisher
    private let ledger: any DispatchLedger
    private let policy: DispatchPolicy
    private let logger: Logger
    private let metrics: DispatchMetrics
    private let recordProblem = LastingProblemLog(
        "Outcomes cannot be stored for now.", end: "Outcomes are stored again.")
    private let followUpProblem = LastingProblemLog(
        "Retries or dead letters were not confirmed by the broker.",
        end: "Retries and dead letters are confirmed again.")
    /// Bounded by the prefetch: a delivery is in it at most once.
    private let mailbox = Mailbox<Settlement>()
    private let underWay = Mutex(UnderWay())

    private struct UnderWay {
        /// From before the claim until after the settlement, with further deliveries of the same notification.
        var repeats: [NotificationID: [DispatchDelivery]] = [:]
        /// Attempts that wait for the hub.
        var attempts = 0
        /// Waits until so many notifications at most are under way.
        var room: (limit: Int, waiter: CheckedContinuation<Void, Never>)?
        var isFinishing = false
    }

    init(
        consumer: any DispatchConsumer, publisher: any DispatchPublisher, ledger: any DispatchLedger,
        policy: DispatchPolicy, logger: Logger, metrics: DispatchMetrics
    ) {
        self.consumer = consumer
        self.publisher = publisher
        self.ledger = ledger
        self.policy = policy
        self.logger = logger
        self.metrics = metrics
    }

    /// Lets a delivery in, unless another one of the same notification is under way here.
    ///
    /// The broker may deliver an ID twice: published again by the outbox, or redelivered after a lost connection. The
    /// one under way covers all that is owed, and its outcome must not be fenced off by another claim; so the other
    /// one is kept, and shares its fate.
    func admit(_ delivery: DispatchDelivery) -> Bool {
        guard let id = delivery.message?.id else { return false }
        return underWay.withLock { state in
            guard state.repeats[id] != nil else {
                state.repeats[id] = []
                return true
            }
            state.repeats[id]?.append(delivery)
            return false
        }
    }

    /// Deliveries are done with, one way or another: their notifications may be claimed again.
    ///
    /// - Returns: the deliveries, and those that shared their fate.
    func release(_ deliveries: [DispatchDelivery]) -> [DispatchDelivery] {
        underWay.withLock { state in
            var released = deliveries
            for delivery in deliveries {
                guard let id = delivery.message?.id, let repeats = state.repeats.removeValue(forKey: id) else {
                    continue
                }
                released += repeats
            }
            if let room = state.room, state.repeats.count <= room.limit {
                state.room = nil
                room.waiter.resume()
            }
            return released
        }
    }

    /// Waits until at most so many notifications are under way; asked by one task at a time.
    func hasFallen(to limit: Int) async {
        await withCheckedContinuation { continuation in
            underWay.withLock { state in
                if state.repeats.count <= limit { return continuation.resume() }
                state.room = (limit, continuation)
            }
        }
    }

    /// Notifications that are claimed, or being claimed, and not settled.
    var notificationsUnderWay: Int { underWay.withLock { $0.repeats.count } }

    /// An attempt has gone to the hub.
    func begin() { underWay.withLock { $0.attempts += 1 } }

    /// The hub has answered for all platforms of an attempt.
    func finish(_ attempt: DispatchAttempt) {
        mailbox.put(CollectionOfOne(attempt.settlement(policy, now: .now)))
        let isLast = underWay.withLock { state in
            state.attempts -= 1
            return state.isFinishing && state.attempts == 0
        }
        if isLast { mailbox.close() }
    }

    /// Settlements that needed no answer of the hub.
    func settle(_ settlements: [Settlement]) { mailbox.put(settlements) }

    /// No more attempts will begin; ``run()`` returns once those in flight are settled.
    func finish() async {
        let isIdle = underWay.withLock { state in
            state.isFinishing = true
            return state.attempts == 0
        }
        if isIdle { mailbox.close() }
    }

    /// The settling loop.
    func run() async {
        while let settlements = await mailbox.take() {
            guard let fenced = await record(settlements.compactMap(\.outcome)) else {
                consumer.giveBack(release(settlements.map(\.delivery)))
                continue
            }
            let settlements = fenced.isEmpty ? settlements : settlements.map { $0.without(fenced) }
            guard settlements.contains(where: \.publishes) else {
                consumer.acknowledge(release(settlements.map(\.delivery)))
                metrics.settled.increment(by: settlements.count)
                continue
            }
            // Before the retry is published: should it come back before the delivery is acknowledged (a process that
            // was stopped in between), it must not share the fate of the one that it follows.
            let deliveries = settlements.map { release([$0.delivery]) }
            let unconfirmed = await followUp(settlements)
            let (unpublished, settled) = deliveries.indices.map { $0 }.partitioned(unconfirmed.contains)
            consumer.acknowledge(settled.flatMap { deliveries[$0] })
            if !unpublished.isEmpty { consumer.giveBack(unpublished.flatMap { deliveries[$0] }) }
            metrics.settled.increment(by: settled.count)
        }
    }

    /// How long outcomes wait for a store that is away: longer than a database takes to start again after a crash, for
    /// what is given back is sent twice; and well within ``OutboxPolicy/attemptLimit``.
    private static let recordPatience = Duration.seconds(25)
    /// The same while the dispatcher stops.
    private static let lastPatience = Duration.seconds(4)

    private var isFinishing: Bool { underWay.withLock { $0.isFinishing } }

    /// Stores outcomes; while the store is away it tries again, for a duplicate push costs more than a wait.
    ///
    /// - Returns: the notifications of which a later claim was made; `nil` when nothing could be stored.
    private func record(_ outcomes: [DispatchOutcome]) async -> Set<NotificationID>? {
        guard !outcomes.isEmpty else { return [] }
        let start = ContinuousClock.now
        var wait = Duration.milliseconds(50)
        while start.duration(to: .now) < (isFinishing ? Self.lastPatience : Self.recordPatience) {
            do {
                let superseded = try await ledger.record(outcomes)
                recordProblem.succeeded(to: logger)
                return superseded
            } catch {
                recordProblem.failed("\(error)", to: logger, metadata: ["count": "\(outcomes.count)"])
                metrics.recordFailures.increment()
                try? await Task.sleep(for: wait)
                wait = min(wait * 2, .seconds(1))
            }
        }
        return nil
    }

    /// Publishes retries and dead letters.
    ///
    /// - Returns: the indices of what the broker did not confirm; its deliveries must not be acknowledged.
    private func followUp(_ settlements: [Settlement]) async -> Set<Int> {
        var unconfirmed: Set<Int> = []
        for (route, group) in followUps(settlements) {
            let results = await publisher.publish(group.map(\.message), to: route)
            unconfirmed.formUnion(failures(results, group.map(\.index)))
            metrics.count(route, group.count)
        }
        return unconfirmed
    }

    /// The messages to publish, by where they go, with the indices of their settlements.
    private func followUps(
        _ settlements: [Settlement]
    ) -> [DispatchRoute: [(index: Int, message: DispatchMessage)]] {
        var routes: [DispatchRoute: [(index: Int, message: DispatchMessage)]] = [:]
        for (index, settlement) in settlements.enumerated() {
            if let retry = settlement.retry {
                routes[.retry(delay: retry.delay), default: []].append((index, retry.message))
            }
            if let dead = settlement.dead {
                routes[.dead(reason: dead.reason), default: []].append((index, dead.message))
            }
        }
        return routes
    }

    private func failures(_ results: [Result<Void, MessagingError>], _ indices: [Int]) -> [Int] {
        zip(indices, results).compactMap { index, result in
            guard case .failure(let error) = result else {
                followUpProblem.succeeded(to: logger)
                return nil
            }
            followUpProblem.failed("\(error)", to: logger)
            return index
        }
    }
}
