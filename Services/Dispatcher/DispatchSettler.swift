import Domain
import Foundations
import Logging
import Metrics
import Synchronization

/// Stores outcomes, publishes retries and dead letters, and acknowledges: in this order, in groups.
final class DispatchSettler: Sendable {
    private let consumer: any DispatchConsumer
    private let publisher: any DispatchPublisher
    private let store: any DispatchStore
    private let policy: DispatchPolicy
    private let silent: SilentBudget?
    private let logger: Logger
    private let metrics: DispatchMetrics
    let recorder: DispatchRecorder
    /// Deliveries that are neither settled nor requeued yet.
    let held: HeldDeliveries
    private let outgoingProblem = LastingProblemLog(
        "Retries or dead letters were not confirmed by the broker",
        end: "Retries and dead letters are confirmed again")
    /// The prefetch limits it: a delivery is in it at most once.
    private let mailbox = Mailbox<Settlement>()
    private let inFlight = Mutex(InFlight())
    private let deadLetterLog = DeadLetterLog()
    private let lostLetterLog = DeadLetterLog("The broker takes no dead letters, and some are given up", .error)

    private struct InFlight {
        /// From before the claim until after the settlement, with further deliveries of the same notification.
        var repeats: [DispatchKey: [DispatchDelivery]] = [:]
        /// Attempts that wait for the hub.
        var attempts = 0
        /// The callers that wait until at most so many notifications are in flight.
        var capacity = WaitList<Void>()
        var drainBegan: ContinuousClock.Instant?
        var isFinishing = false
    }

    init(
        consumer: any DispatchConsumer, publisher: any DispatchPublisher, store: any DispatchStore,
        policy: DispatchPolicy, prefetch: Int, silent: SilentBudget? = nil,
        logger: Logger, metrics: DispatchMetrics
    ) {
        self.consumer = consumer
        self.publisher = publisher
        self.store = store
        self.policy = policy
        self.silent = silent
        self.logger = logger
        self.metrics = metrics
        held = HeldDeliveries(prefetch: prefetch)
        recorder = DispatchRecorder(store: store, logger: logger, metrics: metrics)
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
        let (released, waiter) = inFlight.withLock { state in
            var released = deliveries
            for delivery in deliveries {
                guard let key = delivery.message?.key, let repeats = state.repeats.removeValue(forKey: key) else {
                    continue
                }
                released += repeats
            }
            let hasCapacity = state.capacity.first.map { state.repeats.count <= $0.size } ?? false
            return (released, hasCapacity ? state.capacity.popFirst() : nil)
        }
        waiter?.resume()
        return released
    }

    /// Waits until at most `limit` notifications are in flight, the dispatcher stops, or the task is cancelled. Only
    /// one task may wait at a time.
    func waitUntilInFlight(atMost limit: Int) async {
        try? await inFlight.wait(in: \.capacity, size: limit) { state in
            state.repeats.count <= limit || state.drainBegan != nil ? () : nil
        }
    }

    /// The dispatcher begins to stop: ends ``waitUntilInFlight(atMost:)``, and limits the waits for the store and the
    /// broker to the rest of the drain.
    func drain() {
        let waiter = inFlight.withLock { state in
            state.drainBegan = state.drainBegan ?? .now
            return state.capacity.popFirst()
        }
        waiter?.resume()
    }

    var isDraining: Bool { inFlight.withLock { $0.drainBegan != nil } }

    /// The number of notifications that are claimed, or being claimed, and not settled.
    var notificationsInFlight: Int { inFlight.withLock { $0.repeats.count } }

    /// Filters some notifications: those that are not settled yet.
    func inFlight(of ids: [NotificationID]) -> [NotificationID] {
        inFlight.withLock { state in ids.filter { state.repeats[DispatchKey(id: $0)] != nil } }
    }

    /// Attempts begin whose platforms will answer.
    func begin(_ count: Int) { inFlight.withLock { $0.attempts += count } }

    /// Gives an attempt the answer for one platform, and the same to the notifications that share its push.
    func complete(
        _ answer: LaneAnswer, to attempt: DispatchAttempt, at index: Int, sharedBy followers: [SilentFollower] = []
    ) {
        metrics.countOutcome(of: answer, attempt.platforms[index])
        if attempt.complete(index, answer) { finish(attempt) }
        if followers.isEmpty { return }
        let shared = answer.shared(with: attempt.plan.id, attempt.grant(at: index), now: .now)
        for follower in followers { complete(shared, to: follower.attempt, at: follower.index) }
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

    func run() async {
        while let settlements = await mailbox.take() {
            let recorded = await recorder.record(settlements) { self.mayRecord(since: $0) }
            putBack(recorded.left.flatMap { release([$0.delivery]) }, recorded.left)
            // Before retries are published, which ask for the push again.
            await silent?.release(recorded.done.flatMap(\.releases))
            silent?.coalesced.increment(by: recorded.done.reduce(0) { $0 + $1.coalesced })
            let (publishing, done) = recorded.done.partitioned(\.publishes)
            // Deliveries without retry or dead letter do not wait for the confirms of the others.
            if !done.isEmpty { consumer.acknowledgeLater(release(done.map(\.delivery))) }
            for settlement in done { settlement.endTrace() }
            metrics.settled.increment(by: done.count)
            if !publishing.isEmpty { await publishAndAcknowledge(publishing) }
        }
    }

    /// Requeues deliveries for another dispatcher.
    private func putBack(_ deliveries: [DispatchDelivery], _ settlements: [Settlement]) {
        guard !deliveries.isEmpty else { return }
        consumer.requeue(deliveries)
        for settlement in settlements { settlement.trace?.end("requeued", isFailed: true) }
    }

    private func publishAndAcknowledge(_ settlements: [Settlement]) async {
        // Released before the retry is published: if the retry arrives before this delivery is acknowledged, it must
        // not be taken for a repeat of it.
        let deliveries = settlements.map { release([$0.delivery]) }
        // The broker delivers requeued messages to a dispatcher that has the time to wait for confirms.
        guard mayPublish else { return putBack(deliveries.flatMap { $0 }, settlements) }
        let failures = await publishOutgoing(settlements)
        await recorder.postpone(
            failures.retries.map { (settlements[$0.key], $0.value.retryMargin) })
        hold(
            failures.dead.compactMap { index in
                settlements[index].dead.map { HeldDeliveries.Letter(deliveries: deliveries[index], letter: $0) }
            })
        let settled = settlements.indices.filter { !failures.dead.contains($0) }
        // Also of deliveries that are held for their dead letters: otherwise the outbox publishes them again, and they
        // are pushed each time.
        await abandon(settlements.compactMap(\.dead))
        consumer.acknowledge(settled.flatMap { deliveries[$0] })
        for index in settled { settlements[index].endTrace() }
        for index in failures.dead { settlements[index].trace?.end("requeued", isFailed: true) }
        metrics.settled.increment(by: settled.count)
    }

    /// Requeues deliveries that are due, and publishes dead letters again, until it is cancelled or the dispatcher
    /// stops. Then it requeues the rest.
    func keepHeld() async {
        while !Task.isCancelled {
            try? await Task.sleep(for: Self.heldInterval)
            let due = isDraining ? held.removeAll() : held.takeDue(at: .now)
            if !due.isEmpty { consumer.requeue(due) }
            await publish(held.takeLetters(at: .now))
        }
        let rest = held.removeAll()
        if !rest.isEmpty { consumer.requeue(rest) }
    }

    private func publish(_ letters: [HeldDeliveries.Letter]) async {
        if letters.isEmpty { return }
        let results = await publisher.publish(
            letters.map { ($0.letter.message, .dead(reason: $0.letter.reason)) })
        let (confirmed, others) = zip(letters, results).map { ($0, $1) }.partitioned { (try? $0.1.get()) != nil }
        hold(others.map(\.0))
        guard !confirmed.isEmpty else { return }
        held.lettersWereConfirmed()
        for (letter, _) in confirmed { countDead(letter.letter) }
        await abandon(confirmed.map(\.0.letter))
        consumer.acknowledge(confirmed.flatMap(\.0.deliveries))
        metrics.settled.increment(by: confirmed.count)
    }

    /// Holds deliveries whose dead letters the broker did not confirm. If there is no room, they are acknowledged
    /// without a dead letter, so that they do not block other deliveries. Their record says `dead`.
    private func hold(_ letters: [HeldDeliveries.Letter]) {
        let lost = held.hold(letters)
        if lost.isEmpty { return }
        metrics.lostLetters.increment(by: lost.count)
        for letter in lost { lostLetterLog.log(letter.letter, logger) }
        consumer.acknowledge(lost.flatMap(\.deliveries))
        metrics.settled.increment(by: lost.count)
    }

    private func countDead(_ letter: DeadLetterDraft) {
        metrics.countDeadLetters(letter.cause)
        deadLetterLog.log(letter, logger)
    }

    /// Ends the work on rows that cannot be used. Each has a dead letter, or its delivery is held for one.
    private func abandon(_ letters: [DeadLetterDraft]) async {
        let messages = letters.filter { $0.cause == .record }.map(\.message)
        let (followed, pushes) = messages.partitioned { $0.followUp != nil }
        let ended = GroupWrite<NotificationID, Void> { [store] in
            try await store.abandon($0)
        } probe: { [store] in
            try await store.abandon([NotificationID()])
        }
        var failures = pushes.isEmpty ? [] : await ended(pushes.map(\.id)).failures
        if !followed.isEmpty {
            let ended = GroupWrite<FollowUp, Void> { [store] in
                try await store.abandonFollowUps($0)
            } probe: { [store] in
                try await store.abandonFollowUps([FollowUp(id: NotificationID(), kind: .withdrawal)])
            }
            failures += await ended(followed.compactMap(\.followUp)).failures
        }
        // The outbox then publishes them again, and each gets one more dead letter.
        guard let error = failures.first else { return }
        logger.warning("Dead-lettered notifications stay in the outbox", metadata: ["error": "\(error)"])
    }

    private static let heldInterval = Duration.milliseconds(250)
    /// How long outcomes wait for a store that is unavailable: longer than a database takes to restart after a crash,
    /// because requeued messages would be pushed twice. With the last tries of single outcomes (``GroupWrite``) it ends
    /// within ``OutboxPolicy/attemptLimit``.
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

    private func mayRecord(since start: ContinuousClock.Instant) -> Bool {
        if Task.isCancelled { return false }
        if let drainBegan = inFlight.withLock({ $0.drainBegan }) {
            return drainBegan.duration(to: .now) < Self.recordEnd
        }
        return start.duration(to: .now) < Self.recordPatience
    }

    private struct Failures {
        /// The retries, by the indices of their settlements.
        var retries: [Int: MessagingError] = [:]
        /// The settlements whose dead letters failed. Their deliveries must not be acknowledged.
        var dead: Set<Int> = []
    }

    /// Publishes retries and dead letters, all at once.
    private func publishOutgoing(_ settlements: [Settlement]) async -> Failures {
        let outgoing = outgoing(settlements)
        let results = await publisher.publish(outgoing.map { ($0.message, $0.route) })
        var failures = Failures()
        var (failure, count): (MessagingError?, Int) = (nil, 0)
        for (message, result) in zip(outgoing, results) {
            guard case .failure(let error) = result else { continue }
            if case .retry = message.route {
                failures.retries[message.index] = error
            } else {
                failures.dead.insert(message.index)
            }
            (failure, count) = (error, count + 1)
        }
        if let failure {
            outgoingProblem.failed("\(failure)", to: logger, metadata: ["count": "\(count)"])
        } else if !outgoing.isEmpty {
            outgoingProblem.succeeded(to: logger)
        }
        for (index, settlement) in settlements.enumerated() {
            if settlement.retry != nil { metrics.retries.increment() }
            if let letter = settlement.dead, !failures.dead.contains(index) { countDead(letter) }
        }
        return failures
    }

    /// The messages to publish, with the indices of their settlements.
    private func outgoing(
        _ settlements: [Settlement]
    ) -> [(index: Int, message: DispatchMessage, route: DispatchRoute)] {
        var outgoing: [(index: Int, message: DispatchMessage, route: DispatchRoute)] = []
        for (index, settlement) in settlements.enumerated() {
            if let retry = settlement.retry {
                outgoing.append((index, retry.message, .retry(delay: retry.delay)))
            }
            if let dead = settlement.dead {
                outgoing.append((index, dead.message, .dead(reason: dead.reason)))
            }
        }
        return outgoing
    }
}

extension MessagingError {
    /// How much later than planned the outbox publishes a retry that the broker did not confirm.
    fileprivate var retryMargin: Duration {
        switch code {
        // The retry may be in its delay queue all the same; its claim keeps the outbox from publishing another.
        case .timeout, .blocked: .seconds(5)
        // The delivery cannot be acknowledged either: the broker delivers it again, which asks for the same pushes.
        case .notConnected, .connectionLost: OutboxPolicy.redelivery
        default: .zero
        }
    }
}
