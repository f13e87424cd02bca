import Logging
import Metrics
import SecurePushCore
import Synchronization

/// Stores outcomes, publishes retries and dead letters, and acknowledges: in this order, in groups.
final class DispatchSettler: Sendable {
    private let consumer: any DispatchConsumer
    private let publisher: any DispatchPublisher
    private let store: any DispatchStore
    private let followUps: (any FollowUpStore)?
    private let policy: DispatchPolicy
    private let silent: SilentBudget?
    private let logger: Logger
    private let metrics: DispatchMetrics
    private let recordProblem = LastingProblemLog(
        "Outcomes cannot be stored at the moment", end: "Outcomes are stored again")
    private let followUpProblem = LastingProblemLog(
        "Retries or dead letters were not confirmed by the broker",
        end: "Retries and dead letters are confirmed again")
    /// The prefetch limits it: a delivery is in it at most once.
    private let mailbox = Mailbox<Settlement>()
    private let inFlight = Mutex(InFlight())
    private let deadLetterLog = DeadLetterLog()

    private struct InFlight {
        /// From before the claim until after the settlement, with further deliveries of the same notification.
        var repeats: [DispatchKey: [DispatchDelivery]] = [:]
        /// Attempts that wait for the hub.
        var attempts = 0
        /// Waits until at most `limit` notifications are in flight.
        var capacity: (limit: Int, waiter: CheckedContinuation<Void, Never>)?
        /// When the dispatcher began to stop.
        var drainBegan: ContinuousClock.Instant?
        var isFinishing = false
    }

    init(
        consumer: any DispatchConsumer, publisher: any DispatchPublisher, store: any DispatchStore,
        followUps: (any FollowUpStore)? = nil, policy: DispatchPolicy, silent: SilentBudget? = nil, logger: Logger,
        metrics: DispatchMetrics
    ) {
        self.consumer = consumer
        self.publisher = publisher
        self.store = store
        self.followUps = followUps
        self.policy = policy
        self.silent = silent
        self.logger = logger
        self.metrics = metrics
    }

    /// Admits a delivery unless another one of the same notification is in flight here.
    ///
    /// The broker may deliver an ID twice: the outbox published it again, or a connection was lost. The first delivery
    /// covers everything that is owed, and no other claim may fence off its outcome. So the second delivery is kept,
    /// and is acknowledged or requeued with the first.
    func admit(_ delivery: DispatchDelivery) -> Bool {
        guard let key = delivery.message?.key else { return false }
        return inFlight.withLock { state in
            guard state.repeats[key] != nil else {
                state.repeats[key] = []
                return true
            }
            state.repeats[key]?.append(delivery)
            return false
        }
    }

    /// Releases deliveries at the end of their processing: their notifications may be claimed again.
    ///
    /// - Returns: the deliveries, and those that were kept with them.
    func release(_ deliveries: [DispatchDelivery]) -> [DispatchDelivery] {
        inFlight.withLock { state in
            var released = deliveries
            for delivery in deliveries {
                guard let key = delivery.message?.key, let repeats = state.repeats.removeValue(forKey: key) else {
                    continue
                }
                released += repeats
            }
            if let capacity = state.capacity, state.repeats.count <= capacity.limit {
                state.capacity = nil
                capacity.waiter.resume()
            }
            return released
        }
    }

    /// Waits until at most `limit` notifications are in flight, the dispatcher stops, or the task is cancelled. Only
    /// one task may wait at a time.
    func waitUntilInFlight(atMost limit: Int) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                inFlight.withLock { state in
                    // Read under the lock: a cancellation that comes later finds the waiter.
                    if state.repeats.count <= limit || state.drainBegan != nil || Task.isCancelled {
                        return continuation.resume()
                    }
                    state.capacity = (limit, continuation)
                }
            }
        } onCancel: {
            inFlight.withLock { $0.capacity.take() }?.waiter.resume()
        }
    }

    /// The dispatcher begins to stop: ends ``waitUntilInFlight(atMost:)``, and limits the waits for the store and the
    /// broker to the rest of the drain.
    func drain() {
        let capacity = inFlight.withLock { state in
            state.drainBegan = state.drainBegan ?? .now
            return state.capacity.take()
        }
        capacity?.waiter.resume()
    }

    /// Whether the dispatcher is stopping.
    var isDraining: Bool { inFlight.withLock { $0.drainBegan != nil } }

    /// The number of notifications that are claimed, or being claimed, and not settled.
    var notificationsInFlight: Int { inFlight.withLock { $0.repeats.count } }

    /// Those of some notifications that are not settled.
    func inFlight(of ids: [NotificationID]) -> [NotificationID] {
        inFlight.withLock { state in ids.filter { state.repeats[DispatchKey(id: $0)] != nil } }
    }

    /// An attempt begins.
    func begin() { inFlight.withLock { $0.attempts += 1 } }

    /// Notes the answer for one platform of an attempt, and for those that share its push.
    func note(
        _ answer: LaneAnswer, to attempt: DispatchAttempt, at index: Int, sharedBy followers: [SilentFollower] = []
    ) {
        if attempt.complete(index, answer) { finish(attempt) }
        if followers.isEmpty { return }
        let shared = answer.shared(with: attempt.plan.id, attempt.grant(at: index), now: .now)
        for follower in followers { note(shared, to: follower.attempt, at: follower.index) }
    }

    /// All platforms of an attempt have answered.
    private func finish(_ attempt: DispatchAttempt) {
        mailbox.put(attempt.settlement(policy, now: .now))
        let isLast = inFlight.withLock { state in
            state.attempts -= 1
            return state.isFinishing && state.attempts == 0
        }
        if isLast { mailbox.close() }
    }

    /// Settles deliveries that needed no request to the hub.
    func settle(_ settlements: [Settlement]) { mailbox.put(settlements) }

    /// No more attempts will begin: ``run()`` returns once those in flight are settled.
    func finish() async {
        let isIdle = inFlight.withLock { state in
            state.isFinishing = true
            return state.attempts == 0
        }
        if isIdle { mailbox.close() }
    }

    /// The settling loop.
    func run() async {
        while let settlements = await mailbox.take() {
            guard let fenced = await recordAll(settlements) else {
                consumer.requeue(release(settlements.map(\.delivery)))
                for settlement in settlements { settlement.trace?.end("requeued", isFailed: true) }
                continue
            }
            // Before retries are published, which ask for the push again.
            await silent?.release(settlements.flatMap(\.releases))
            let settlements = fenced.isEmpty ? settlements : settlements.map { $0.droppingMessages(ifIn: fenced) }
            silent?.coalesced.increment(by: settlements.reduce(0) { $0 + $1.coalesced })
            let (publishing, done) = settlements.partitioned(\.publishes)
            // These do not wait for the confirms of the others.
            if !done.isEmpty { consumer.acknowledgeLater(release(done.map(\.delivery))) }
            for settlement in done { settlement.endTrace() }
            metrics.settled.increment(by: done.count)
            if !publishing.isEmpty { await publishAndAcknowledge(publishing) }
        }
    }

    private func publishAndAcknowledge(_ settlements: [Settlement]) async {
        // Released before the retry is published: if the retry arrives before this delivery is acknowledged, it must
        // not be taken for a repeat of it.
        let deliveries = settlements.map { release([$0.delivery]) }
        // The broker delivers requeued messages to a dispatcher that has the time to wait for confirms.
        guard mayPublish else {
            for settlement in settlements { settlement.trace?.end("requeued", isFailed: true) }
            return consumer.requeue(deliveries.flatMap { $0 })
        }
        let unconfirmed = await publishFollowUps(settlements)
        let (unpublished, settled) = deliveries.indices.map { $0 }.partitioned(unconfirmed.contains)
        await abandon(settled.compactMap { settlements[$0].dead })
        consumer.acknowledge(settled.flatMap { deliveries[$0] })
        if !unpublished.isEmpty { consumer.requeue(unpublished.flatMap { deliveries[$0] }) }
        for index in settled { settlements[index].endTrace() }
        for index in unpublished { settlements[index].trace?.end("requeued", isFailed: true) }
        metrics.settled.increment(by: settled.count)
    }

    /// Removes rows that cannot be read from the outbox, once each has a dead letter.
    private func abandon(_ letters: [DeadLetterDraft]) async {
        let ids = letters.filter { $0.cause == .record }.map(\.message.id)
        guard !ids.isEmpty else { return }
        do {
            try await store.abandon(ids)
        } catch {
            // The outbox then publishes them again, and each gets one more dead letter.
            logger.warning("Unreadable notifications stay in the outbox", metadata: ["error": "\(error)"])
        }
    }

    /// How long outcomes wait for a store that is away: longer than a database takes to restart after a crash, because
    /// requeued messages would be pushed twice; and well within ``OutboxPolicy/attemptLimit``.
    private static let recordPatience = Duration.seconds(25)
    /// The end of that wait, counted from the beginning of a drain: requests to the hub end within 5 s, and at 8 s all
    /// services are cancelled.
    private static let recordEnd = Duration.seconds(7)
    /// The last time for a publish, counted from the beginning of a drain: a publish to a broker that does not answer
    /// takes 5 s.
    private static let publishEnd = Duration.seconds(2)

    private var mayPublish: Bool {
        inFlight.withLock { $0.drainBegan.map { $0.duration(to: .now) < Self.publishEnd } ?? true }
    }

    /// Whether to try once more to store outcomes.
    private func mayRecord(since start: ContinuousClock.Instant) -> Bool {
        if Task.isCancelled { return false }
        if let drainBegan = inFlight.withLock({ $0.drainBegan }) {
            return drainBegan.duration(to: .now) < Self.recordEnd
        }
        return start.duration(to: .now) < Self.recordPatience
    }

    /// Stores the outcomes of notifications and of follow-ups.
    ///
    /// - Returns: the notifications with a later claim; `nil` if something could not be stored.
    private func recordAll(_ settlements: [Settlement]) async -> Set<NotificationID>? {
        let outcomes = settlements.compactMap(\.outcome)
        let fenced = outcomes.isEmpty ? [] : await record(outcomes.count) { try await self.store.record(outcomes) }
        let followed = settlements.compactMap(\.followUp)
        guard let followUps, !followed.isEmpty, fenced != nil else { return fenced }
        let recorded: Void? = await record(followed.count) {
            try await followUps.recordFollowUps(followed.map(\.outcome))
        }
        guard recorded != nil else { return nil }
        metrics.countFollowUps(followed)
        return fenced
    }

    /// Stores outcomes, and tries again while the store is away: a duplicate push costs more than a wait.
    ///
    /// - Returns: the result; `nil` if nothing could be stored.
    private func record<Value: Sendable>(
        _ count: Int, _ store: () async throws -> Value
    ) async -> Value? {
        let start = ContinuousClock.now
        var wait = Duration.milliseconds(50)
        repeat {
            do {
                let result = try await store()
                recordProblem.succeeded(to: logger)
                return result
            } catch {
                recordProblem.failed("\(error)", to: logger, metadata: ["count": "\(count)"])
                metrics.recordFailures.increment()
                try? await Task.sleep(for: wait)
                wait = min(wait * 2, .seconds(1))
            }
        } while mayRecord(since: start)
        return nil
    }

    /// Publishes retries and dead letters, all at once.
    ///
    /// - Returns: the indices of the settlements that the broker did not confirm; their deliveries must not be
    ///   acknowledged.
    private func publishFollowUps(_ settlements: [Settlement]) async -> Set<Int> {
        let followUps = followUps(settlements)
        let results = await publisher.publish(followUps.map { ($0.message, $0.route) })
        var unconfirmed: Set<Int> = []
        var failure: MessagingError?
        for (followUp, result) in zip(followUps, results) {
            guard case .failure(let error) = result else { continue }
            unconfirmed.insert(followUp.index)
            failure = error
        }
        if let failure {
            followUpProblem.failed("\(failure)", to: logger, metadata: ["count": "\(unconfirmed.count)"])
        } else if !followUps.isEmpty {
            followUpProblem.succeeded(to: logger)
        }
        for (index, settlement) in settlements.enumerated() where !unconfirmed.contains(index) {
            if settlement.retry != nil { metrics.retries.increment() }
            guard let letter = settlement.dead else { continue }
            metrics.countDeadLetters(letter.cause)
            deadLetterLog.note(letter, logger)
        }
        return unconfirmed
    }

    /// The messages to publish, with the indices of their settlements.
    private func followUps(
        _ settlements: [Settlement]
    ) -> [(index: Int, message: DispatchMessage, route: DispatchRoute)] {
        var followUps: [(index: Int, message: DispatchMessage, route: DispatchRoute)] = []
        for (index, settlement) in settlements.enumerated() {
            if let retry = settlement.retry {
                followUps.append((index, retry.message, .retry(delay: retry.delay)))
            }
            if let dead = settlement.dead {
                followUps.append((index, dead.message, .dead(reason: dead.reason)))
            }
        }
        return followUps
    }
}
