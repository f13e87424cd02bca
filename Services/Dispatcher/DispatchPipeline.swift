import Domain
import Foundations
import Logging
import Metrics
import NotificationHubs
import ServiceLifecycle
import Tracing

/// Carries notifications from the broker through the hub, in groups.
///
/// It has three stages, and each serves everything that arrived while it was busy. The intake claims all deliveries of
/// the prefetch in one statement, so that an attempt is on record before the hub is called. First attempts are on
/// record since their rows were stored, so of those it only reads the plans (``OpenAttempts``). One lane per platform
/// sends, or holds deliveries that the hub cannot accept now. The settlement stores the outcomes of all finished
/// attempts in one statement, publishes retries, and only then acknowledges. The prefetch limits the deliveries in
/// flight.
///
/// Decision: docs/decisions/0002-attempt-on-record-before-the-push.md
struct DispatchPipeline: Service {
    let consumer: any DispatchConsumer
    let store: any DispatchStore
    let gateway: any PushGateway
    let policy: DispatchPolicy
    /// Asked before sending if platforms without a device are skipped (`DISPATCH_REGISTERED_ONLY`).
    let registered: (any DispatchStore)?
    let signer: PushSigner?
    /// See ``PushData/browserPage``.
    let browserPage: String?
    /// Limits silent pushes; `nil` if they are not limited.
    let silent: SilentBudget?
    /// Makes the spans of messages; `nil` if nothing is traced.
    let tracing: ProcessTracing?
    let settler: DispatchSettler
    let logger: Logger
    let metrics: DispatchMetrics
    let lanes: Lanes
    let maxInFlight: Int
    private let openAttempts = OpenAttempts()
    private let claimProblem = LastingProblemLog(
        "Notifications cannot be claimed at the moment", end: "Notifications are claimed again")
    private let platformProblem = LastingProblemLog(
        "The recipients' platforms cannot be read, so notifications are sent to all platforms",
        end: "The recipients' platforms are read again")

    private static let claimLimit = 512
    /// The most deliveries that are claimed together while all lanes are paused: enough to probe each lane, and few
    /// enough that held notifications do not circle in the broker.
    private static let pausedLimit = 64
    /// The waits after failed claims; their sum is less than a drain may take.
    private static let claimWaits: [Duration] = [.milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2)]
    /// The wait after a claim that cannot succeed later: requeued deliveries are delivered again at once.
    private static let refusedWait = Duration.seconds(1)
    /// How long requests to the hub may take to end once the dispatcher stops. The rest of the drain is needed to store
    /// the results of their notifications' other platforms before all services are cancelled.
    private static let maxRequestDrain = Duration.seconds(5)

    init(
        consumer: any DispatchConsumer, publisher: any DispatchPublisher, store: any DispatchStore,
        gateway: any PushGateway, policy: DispatchPolicy,
        registered: (any DispatchStore)? = nil, lanes: LaneSettings? = nil, hubs: Lanes.Source? = nil,
        signer: PushSigner? = nil, browserPage: String? = nil, silent: SilentBudget? = nil,
        tracing: ProcessTracing? = nil, logger: Logger
    ) {
        self.consumer = consumer
        self.store = store
        self.gateway = gateway
        self.policy = policy
        self.registered = registered
        self.signer = signer
        self.browserPage = browserPage
        self.silent = silent
        self.tracing = tracing
        self.logger = logger
        metrics = DispatchMetrics(platforms: policy.platforms)
        let settings = lanes ?? LaneSettings(platforms: policy.platforms)
        let settler = DispatchSettler(
            consumer: consumer, publisher: publisher, store: store, policy: policy,
            prefetch: settings.prefetch, silent: silent, logger: logger, metrics: metrics)
        self.settler = settler
        maxInFlight = settings.maxInFlight
        self.lanes = Lanes(settings, gateway: gateway, pool: hubs, logger: logger) { send, answer in
            logger.trace(answer, of: send.attempt, platform: send.notification.platform)
            settler.complete(answer, to: send.attempt, at: send.index, sharedBy: send.followers)
        }
    }

    /// Runs until the consumer is drained, which a graceful shutdown causes, and all its deliveries are settled.
    func run() async throws {
        await withTaskExecutorPreference(gateway.executor) { await carry() }
    }

    private func carry() async {
        await withTaskGroup { group in
            group.addTask { await settler.run() }
            group.addTask { await lanes.watch() }
            group.addTask { await openAttempts.enterLong(to: store, settler, logger) }
            group.addTask { await settler.keepHeld() }
            while let deliveries = await consumer.next(limit: await awaitCapacity()) {
                if settler.isDraining {
                    consumer.requeue(deliveries)
                    continue
                }
                await dispatch(deliveries)
                await lanes.rest()
            }
            endSends()
            await settler.finish()
            // The settling ends when all is settled; until then the others watch.
            await group.next()
            group.cancelAll()
        }
    }

    /// Begins to stop: nothing new is sent, and requests at the hub end within ``maxRequestDrain``.
    ///
    /// Call it as soon as the consumer is told to stop, because the intake may be waiting for responses of the hub.
    /// ``run()`` returns once the consumer is drained and all is settled.
    func drain() {
        settler.drain()
        endSends()
    }

    private func endSends() {
        lanes.close()
        gateway.stop(within: Self.maxRequestDrain)
    }

    /// Waits until more notifications can be claimed, and returns their maximum number.
    ///
    /// If the process dies, notifications that are claimed and not settled are sent twice. So only as many are in
    /// flight as keep the lanes busy, and the rest of the prefetch waits unclaimed.
    private func awaitCapacity() async -> Int {
        await settler.waitUntilInFlight(atMost: maxInFlight * 3 / 4)
        let capacity = max(1, maxInFlight - settler.notificationsInFlight)
        return min(capacity, lanes.areAllPaused ? Self.pausedLimit : Self.claimLimit)
    }

    /// Claims a group and starts its sends; returns without waiting for the hub.
    private func dispatch(_ deliveries: [DispatchDelivery]) async {
        let arrival = tracing == nil ? nil : DefaultTracerClock.now
        metrics.redelivered.increment(by: deliveries.count { $0.isRedelivered })
        settler.held.forgetOlder(than: deliveries)
        let (readable, unreadable) = deliveries.partitioned { $0.message != nil }
        // The consumer moves them to the dead-letter queue.
        settler.settle(unreadable.map { Settlement(delivery: $0) })
        metrics.countDeadLetters(.body, unreadable.count)
        let (admitted, repeated) = readable.partitioned(settler.admit)
        metrics.repeated.increment(by: repeated.count)
        let (pushes, followUps) = admitted.partitioned { $0.message?.kind == nil }
        if !pushes.isEmpty { await dispatchPushes(pushes, at: arrival) }
        if !followUps.isEmpty { await dispatchFollowUps(followUps, at: arrival) }
    }

    /// The span of a message; `nil` if nothing is traced.
    func trace(
        of delivery: DispatchDelivery, _ message: DispatchMessage, stored: @autoclosure () -> String?,
        at arrival: DefaultTracerClock.Timestamp?
    ) -> ProcessTrace? {
        guard let tracing, let arrival else { return nil }
        return tracing.begin(delivery, message, stored: stored(), at: arrival)
    }

    private func dispatchPushes(_ deliveries: [DispatchDelivery], at arrival: DefaultTracerClock.Timestamp?) async {
        guard let left = await begin(deliveries, at: arrival) else {
            return consumer.requeue(settler.release(deliveries))
        }
        guard !left.isEmpty else { return }
        let ids = left.compactMap { $0.message?.id }
        let first = Set(left.lazy.filter(\.ownsFirstAttempt).compactMap { $0.message?.id })
        let claim = GroupWrite<NotificationID, DispatchClaims>.claim(store, first: first)
        let result = await self.claim(ids, by: claim) { try await settler.recorder.expectPushes() }
        if result.values.contains(where: { !$0.plans.isEmpty }) { settler.recorder.pushesWereClaimed() }
        if !result.left.isEmpty, !result.isRetriable { try? await Task.sleep(for: Self.refusedWait) }
        var claimed = left
        if !result.left.isEmpty {
            let unclaimed = Set(result.left)
            let parts = left.partitioned { $0.message.map { unclaimed.contains($0.id) } ?? false }
            claimed = parts.others
            consumer.requeue(settler.release(parts.satisfying))
        }
        let claims = result.claims
        let due = claims.early.isEmpty ? claimed : holdEarly(claimed, claims.early)
        if !due.isEmpty { await start(due, claims, at: arrival) }
    }

    /// Keeps or drops messages whose `NotBefore` has not come. The outbox publishes such an ID when it is due; a
    /// message before that has another origin, unless the clock of its publisher is ahead.
    ///
    /// - Returns: the others.
    private func holdEarly(
        _ deliveries: [DispatchDelivery], _ early: [NotificationID: Timestamp]
    ) -> [DispatchDelivery] {
        let latest = Timestamp.now + OutboxPolicy.clockDifference
        return deliveries.filter { delivery in
            guard let due = delivery.message.flatMap({ early[$0.id] }) else { return true }
            metrics.early.increment()
            if due <= latest {
                for delivery in settler.release([delivery]) { settler.held.hold(delivery, until: due) }
            } else {
                settler.settle([Settlement(delivery: delivery)])
            }
            return false
        }
    }

    /// Starts the first attempts that are open: their plans are read, and nothing is written.
    ///
    /// - Returns: the deliveries that are left to be claimed; `nil` if the store cannot be read.
    private func begin(
        _ deliveries: [DispatchDelivery], at arrival: DefaultTracerClock.Timestamp?
    ) async -> [DispatchDelivery]? {
        // While outcomes cannot be stored, a read proves nothing: a push needs a write first, which the claim is.
        if settler.recorder.isFailing { return deliveries }
        let ids = deliveries.lazy.filter(\.ownsFirstAttempt).compactMap { $0.message?.id }
        if ids.isEmpty { return deliveries }
        let read = GroupWrite<NotificationID, (claims: DispatchClaims, began: ContinuousClock.Instant)> { [store] in
            let began = ContinuousClock.now
            return (claims: try await store.begin($0, now: .now), began: began)
        } probe: { [store] in
            _ = try await store.begin([NotificationID()], now: .now)
        }
        let result = await claim(Array(ids), by: read) { try await settler.recorder.expectPushes() }
        // A row that the store refuses to read is claimed instead, and the claim decides.
        guard result.left.isEmpty || !result.isRetriable else { return nil }
        var claims = DispatchClaims()
        for (begun, began) in result.values {
            // After a slow read it is too late to enter these attempts in time.
            guard began.duration(to: .now) < OutboxPolicy.entry else { continue }
            openAttempts.add(Array(begun.plans.keys), since: began)
            claims.merge(begun)
        }
        let (started, left) = deliveries.partitioned { delivery in
            guard delivery.ownsFirstAttempt, let id = delivery.message?.id else { return false }
            return claims[id] != nil || claims.unreadable[id] != nil
        }
        if !started.isEmpty { await start(started, claims, at: arrival) }
        return left
    }

    /// Claims, and tries again for a few seconds while the store is unavailable: requeued deliveries are delivered
    /// again at once, and each time counts towards the queue's delivery limit.
    ///
    /// If the store refuses all claims for good, they are not repeated.
    ///
    /// - Parameter expectRecords: throws while outcomes cannot be stored, because a push that cannot be recorded must
    ///   not be sent.
    func claim<Element, Claims>(
        _ elements: [Element], by claim: GroupWrite<Element, Claims>, if expectRecords: () async throws -> Void
    ) async -> GroupWrite<Element, Claims>.Result {
        var result = GroupWrite<Element, Claims>.Result(left: elements)
        for wait in Self.claimWaits where !Task.isCancelled {
            do {
                try await expectRecords()
                result.add(await claim(result.left))
            } catch {
                result.failure = error
            }
            guard let failure = result.failure else {
                claimProblem.succeeded(to: logger)
                return result
            }
            claimProblem.failed("\(failure)", to: logger, metadata: ["count": "\(result.left.count)"])
            metrics.claimFailures.increment()
            guard result.isRetriable else { return result }
            try? await Task.sleep(for: wait)
        }
        return result
    }

    /// Records `skipped` for platforms on which the recipient has no device in our own store. If the platforms cannot
    /// be read, all are sent to: an unneeded push costs less than a missing one.
    private func skippingUnregistered(
        _ plans: [NotificationID: DispatchPlan]
    ) async -> [NotificationID: DispatchPlan] {
        guard let registered, !plans.isEmpty else { return plans }
        do {
            let platforms = try await registered.platforms(of: Array(Set(plans.values.map(\.recipient))))
            platformProblem.succeeded(to: logger)
            let now = Timestamp.now
            return plans.mapValues { plan in
                guard plan.reasonNotToSend(now: now) == nil else { return plan }
                var plan = plan
                metrics.countUnregistered(plan.skip(policy, except: platforms[plan.recipient] ?? [], now: now))
                return plan
            }
        } catch {
            platformProblem.failed("\(error)", to: logger)
            return plans
        }
    }

    private func start(
        _ deliveries: [DispatchDelivery], _ claims: DispatchClaims, at arrival: DefaultTracerClock.Timestamp?
    ) async {
        var claims = claims
        claims.plans = await skippingUnregistered(claims.plans)
        let now = Timestamp.now
        var done: [Settlement] = []
        var attempts: [DispatchAttempt] = []
        for delivery in deliveries {
            guard let message = delivery.message else { continue }
            let trace = trace(of: delivery, message, stored: claims.plans[message.id]?.traceparent, at: arrival)
            switch claims.step(for: message, policy, now: now) {
            case .deadLetter(let letter): done.append(Settlement(delivery: delivery, dead: letter, trace: trace))
            case .drop:
                metrics.unknown.increment()
                done.append(Settlement(delivery: delivery, trace: trace))
            case .skip(let outcome):
                metrics.skipped.increment()
                done.append(Settlement(delivery: delivery, outcome: outcome, trace: trace))
            case .send(let plan, let platforms):
                let attempt = DispatchAttempt(
                    delivery: delivery, message: message, plan: plan, platforms: platforms, trace: trace)
                if platforms.isEmpty {
                    // The attempt settles at once, and names again the platforms that were given up before.
                    let dead = attempt.settlement(policy, now: now).dead
                    let outcome = plan.outcomeIfNothingIsOwed(policy, now: now)
                    done.append(Settlement(delivery: delivery, outcome: outcome, dead: dead, trace: trace))
                } else {
                    metrics.ambiguous.increment(by: plan.unrecordedClaims * platforms.count)
                    attempts.append(attempt)
                }
            }
        }
        await carryOut(attempts, done, now: now)
    }

    /// Settles the deliveries of a group that need no request to the hub, and sends the others.
    func carryOut(_ attempts: [DispatchAttempt], _ done: [Settlement], now: Timestamp) async {
        settler.begin(attempts.count)
        settler.settle(done)
        let roles = await silent?.roles(of: attempts, now: now)
        for (position, attempt) in attempts.enumerated() { send(attempt, roles?[position], now: now) }
    }

    /// - Parameter roles: of the attempt's platforms; `nil` if silent pushes are not limited.
    private func send(_ attempt: DispatchAttempt, _ roles: [SilentRole]?, now: Timestamp) {
        // One signature serves all platforms.
        let plan = attempt.plan
        let data = PushData(
            plan, signature: signer?.sign(plan.id, for: plan.recipient, withdraw: plan.isWithdrawal, now: now),
            browserPage: browserPage)
        let lanes = lanes.lanes(for: plan.recipient)
        for (index, platform) in attempt.platforms.enumerated() {
            var followers: [SilentFollower] = []
            switch roles?[index] ?? .free {
            case .free: break
            case .leads(let grant, let sharing):
                attempt.keep(grant, at: index)
                followers = sharing
            case .follows: continue
            case .answered(let answer):
                settler.complete(answer, to: attempt, at: index)
                continue
            }
            if let notification = plan.native(for: platform, now: now, data),
                lanes.submit(
                    LaneSend(notification: notification, attempt: attempt, index: index, followers: followers))
            {
                continue
            }
            let refusal = SendOutcome.rejected(reason: "There is no native form for \(platform).")
            settler.complete(.answered(refusal, hold: nil), to: attempt, at: index, sharedBy: followers)
        }
    }
}
