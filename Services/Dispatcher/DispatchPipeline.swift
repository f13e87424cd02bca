import Logging
import Metrics
import NotificationHubs
import SecurePushCore
import ServiceLifecycle

/// Carries notifications from the broker through the hub, in groups.
///
/// Three stages, each serving whatever has come while it was busy: the intake claims all that the prefetch holds in one
/// statement (an attempt is on record before the hub is called); a lane a platform sends, or holds what the hub cannot
/// take now; the settlement stores the outcomes of all that is finished in one statement, publishes what is to be tried
/// again, and only then acknowledges. What is in flight is bounded by the prefetch.
struct DispatchPipeline: Service {
    let consumer: any DispatchConsumer
    let ledger: any DispatchStore
    let gateway: any PushGateway
    let policy: DispatchPolicy
    /// Asked before sending where platforms without a device are skipped (`DISPATCH_REGISTERED_ONLY`).
    let registered: (any RegisteredPlatforms)?
    let settler: DispatchSettler
    let logger: Logger
    let metrics: DispatchMetrics
    let lanes: Lanes
    let maxInFlight: Int
    private let claimProblem = LastingProblemLog(
        "Notifications cannot be claimed for now.", end: "Notifications are claimed again.")
    private let platformProblem = LastingProblemLog(
        "The recipients' platforms cannot be read; all are sent.", end: "The recipients' platforms are read again.")

    /// Deliveries claimed in one statement.
    private static let claimLimit = 512
    /// The same while every lane is paused: enough to probe each, and few enough that what is held on the way does not
    /// circle in the broker.
    private static let pausedLimit = 64
    /// The waits after a claim that failed; in all less than a drain may take.
    private static let claimWaits: [Duration] = [.milliseconds(200), .milliseconds(500), .seconds(1), .seconds(2)]
    /// The wait after a claim that another try would not mend: what is given back is handed out again at once.
    private static let refusedWait = Duration.seconds(1)
    /// How long requests to the hub may take to end once the dispatcher stops: past it there must be time to store
    /// what the other platforms of their notifications took, before all services are cancelled.
    private static let maxRequestDrain = Duration.seconds(5)

    init(
        consumer: any DispatchConsumer, publisher: any DispatchPublisher, ledger: any DispatchStore,
        gateway: any PushGateway, policy: DispatchPolicy, registered: (any RegisteredPlatforms)? = nil,
        lanes: LaneSettings? = nil, logger: Logger
    ) {
        self.consumer = consumer
        self.ledger = ledger
        self.gateway = gateway
        self.policy = policy
        self.registered = registered
        self.logger = logger
        metrics = DispatchMetrics(platforms: policy.platforms)
        let settler = DispatchSettler(
            consumer: consumer, publisher: publisher, ledger: ledger, policy: policy, logger: logger, metrics: metrics)
        self.settler = settler
        let settings = lanes ?? LaneSettings(platforms: policy.platforms)
        maxInFlight = settings.maxInFlight
        self.lanes = Lanes(settings, gateway: gateway, logger: logger) { send, answer in
            logger.trace(answer, of: send.attempt, platform: send.notification.platform)
            if send.attempt.complete(send.index, answer) { settler.finish(send.attempt) }
        }
    }

    /// Runs until the consumer is drained, which a graceful shutdown brings about, and all that it handed out is
    /// settled.
    func run() async throws {
        await withTaskGroup { group in
            group.addTask { await settler.run() }
            group.addTask { await lanes.watch() }
            while let deliveries = await consumer.next(limit: await room()) {
                if settler.isDraining {
                    consumer.requeue(deliveries)
                    continue
                }
                await dispatch(deliveries)
                await lanes.rest()
            }
            endSends()
            await settler.finish()
            // The settling ends when all is settled; until then the lanes are watched.
            await group.next()
            group.cancelAll()
        }
    }

    /// The dispatcher begins to stop: nothing new is sent, and what is at the hub ends within ``maxRequestDrain``.
    ///
    /// To be called as soon as the consumer is told to stop, since the intake may be waiting for room that only answers
    /// of the hub can make. ``run()`` returns once the consumer is drained and all is settled.
    func drain() {
        settler.drain()
        endSends()
    }

    private func endSends() {
        lanes.close()
        gateway.stop(within: Self.maxRequestDrain)
    }

    /// Waits until there is room, and says for how many.
    ///
    /// What is claimed and not settled is what a death sends twice: so no more is under way than keeps the lanes busy,
    /// and the rest of the prefetch waits unclaimed.
    private func room() async -> Int {
        await settler.hasFallen(to: maxInFlight * 3 / 4)
        let room = max(1, maxInFlight - settler.notificationsInFlight)
        return min(room, lanes.areAllPaused ? Self.pausedLimit : Self.claimLimit)
    }

    /// Claims a group and starts its sends; returns without waiting for the hub.
    private func dispatch(_ deliveries: [DispatchDelivery]) async {
        metrics.redelivered.increment(by: deliveries.count { $0.isRedelivered })
        let (readable, unreadable) = deliveries.partitioned { $0.message != nil }
        // The consumer moves them to the dead-letter queue.
        settler.settle(unreadable.map { Settlement(delivery: $0) })
        metrics.countDeadLetters(.body, unreadable.count)
        let (admitted, repeated) = readable.partitioned(settler.admit)
        metrics.repeated.increment(by: repeated.count)
        guard !admitted.isEmpty else { return }
        if var claims = await claim(admitted.compactMap { $0.message?.id }) {
            claims.plans = await skippingUnregistered(claims.plans)
            start(admitted, claims)
        } else {
            consumer.requeue(settler.release(admitted))
        }
    }

    /// Claims, and while the store is away tries again for a few seconds: what is given back is handed out again at
    /// once, and every time counts towards the queue's delivery limit.
    ///
    /// A refusal of the store is not tried again: each try counts up the attempts of all, which their records show as
    /// pushes that may have been sent.
    private func claim(_ ids: [NotificationID]) async -> DispatchClaims? {
        for wait in Self.claimWaits where !Task.isCancelled {
            do {
                let claims = try await ledger.claim(ids, now: .now)
                claimProblem.succeeded(to: logger)
                return claims
            } catch let error as StorageError where !error.isRetriable {
                logger.error("the store refused a claim", metadata: ["error": "\(error)", "count": "\(ids.count)"])
                metrics.claimFailures.increment()
                try? await Task.sleep(for: Self.refusedWait)
                return nil
            } catch {
                claimProblem.failed("\(error)", to: logger, metadata: ["count": "\(ids.count)"])
                metrics.claimFailures.increment()
                try? await Task.sleep(for: wait)
            }
        }
        return nil
    }

    /// The plans with `skipped` on record for platforms on which the recipient has no device here. Where that cannot be
    /// found out, all are sent: one push too many costs less than one too few.
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

    private func start(_ deliveries: [DispatchDelivery], _ claims: DispatchClaims) {
        let now = Timestamp.now
        var done: [Settlement] = []
        for delivery in deliveries {
            guard let message = delivery.message else { continue }
            if let error = claims.unreadable[message.id] {
                let letter = DeadLetterDraft(
                    message: message, reason: "the record cannot be read: \(error.message)", cause: .record)
                done.append(Settlement(delivery: delivery, dead: letter))
                continue
            }
            guard let plan = claims[message.id]?.skippingUnserved(policy, now: now) else {
                metrics.unknown.increment()
                done.append(Settlement(delivery: delivery))
                continue
            }
            if let reason = plan.reasonNotToSend(now: now) {
                metrics.skipped.increment()
                let outcome = plan.skipping(policy, reason: reason, now: now)
                done.append(Settlement(delivery: delivery, outcome: outcome))
                continue
            }
            let platforms = policy.owedPlatforms(plan, asked: message.platforms)
            if platforms.isEmpty {
                // With no platform this settles at once, and names again what was given up before.
                let attempt = DispatchAttempt(delivery: delivery, message: message, plan: plan, platforms: [])
                done.append(
                    Settlement(
                        delivery: delivery, outcome: plan.closing(policy, now: now),
                        dead: attempt.settlement(policy, now: now).dead))
                continue
            }
            metrics.ambiguous.increment(by: plan.unrecordedClaims * platforms.count)
            settler.begin()
            send(DispatchAttempt(delivery: delivery, message: message, plan: plan, platforms: platforms), now: now)
        }
        settler.settle(done)
    }

    private func send(_ attempt: DispatchAttempt, now: Timestamp) {
        for (index, platform) in attempt.platforms.enumerated() {
            if let notification = attempt.plan.notification(for: platform, now: now),
                lanes.submit(LaneSend(notification: notification, attempt: attempt, index: index))
            {
                continue
            }
            let refusal = SendOutcome.rejected(reason: "There is no native form for \(platform).")
            if attempt.complete(index, .answered(refusal, hold: nil)) { settler.finish(attempt) }
        }
    }
}

extension DispatchPlan {
    /// Why the notification must not be sent any more, or `nil`.
    func reasonNotToSend(now: Timestamp) -> String? {
        if isRevoked { return "revoked" }
        return expiresAt <= now ? "expired" : nil
    }

    /// The outcome of a notification of which nothing was asked that is owed: what is on record, so that its status is
    /// right.
    ///
    /// Where a message named only some platforms, others may be owed still.
    func closing(_ policy: DispatchPolicy, now: Timestamp) -> DispatchOutcome? {
        let deliveries = noted(policy, besides: [], now: now)
        guard !deliveries.isEmpty else { return nil }
        return DispatchOutcome(
            id: id, attempt: attempt, deliveries: deliveries, nextTry: policy.nextTryOfOthers(self, now: now))
    }
}

extension Array {
    /// The elements that satisfy a condition, and the others.
    func partitioned(_ condition: (Element) -> Bool) -> (satisfying: [Element], others: [Element]) {
        var parts: (satisfying: [Element], others: [Element]) = ([], [])
        for element in self {
            if condition(element) { parts.satisfying.append(element) } else { parts.others.append(element) }
        }
        return parts
    }
}
