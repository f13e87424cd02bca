import SecurePushCore

/// What follows from an attempt: what to store, and what to publish before the delivery is acknowledged.
struct Settlement: Sendable {
    var delivery: DispatchDelivery
    /// The whole record of deliveries, or `nil` where nothing changed.
    var outcome: DispatchOutcome?
    /// What failed and has attempts left, with the index of its delay.
    var retry: (message: DispatchMessage, delay: Int)?
    /// What ran out of attempts, with the reason.
    var dead: (message: DispatchMessage, reason: String)?

    /// Whether something must be published before the delivery is acknowledged.
    var publishes: Bool { retry != nil || dead != nil }

    /// Without a follow-up where a later claim was made: whoever made it tries what is owed then, and what was owed
    /// here would only narrow that.
    func without(_ fenced: Set<NotificationID>) -> Settlement {
        guard let outcome, fenced.contains(outcome.id) else { return self }
        return Settlement(delivery: delivery)
    }
}

extension DispatchAttempt {
    /// Decides what follows from the hub's answers.
    func settlement(_ policy: DispatchPolicy, now: Timestamp) -> Settlement {
        var deliveries = plan.noted(policy, besides: platforms, now: now)
        var owed = OwedPlatforms()
        var exhausted: [Platform] = []
        for (platform, answer) in answers {
            let position = deliveries.firstIndex { $0.platform == platform }
            var updated = policy.delivery(
                of: platform, after: answer, previous: position.map { deliveries[$0] }, now: now)
            // A claim without an outcome may have reached the hub on every platform that was owed then.
            updated.unanswered += plan.unrecordedClaims
            if let position { deliveries[position] = updated } else { deliveries.append(updated) }
            if !updated.state.isSettled {
                owed.add(updated, answer, policy.retryDelays)
            } else if updated.state == .dead, !answer.isFinal {
                exhausted.append(platform)
            }
        }
        var settlement = Settlement(
            delivery: delivery,
            outcome: DispatchOutcome(id: plan.id, attempt: plan.attempt, deliveries: deliveries))
        if let delay = owed.delay(policy.retryDelays) {
            // A hold is no retry, and keeps the number; on its first way a notification has none yet.
            let attempt = owed.failures > 0 ? message.nextAttempt : message.attempt ?? 1
            settlement.retry = (follow(up: owed.platforms, attempt: attempt), delay)
            settlement.outcome?.nextTry = now + policy.retryDelays.delays[delay]
        } else if message.platforms != nil {
            var plan = plan
            plan.deliveries = deliveries
            settlement.outcome?.nextTry = policy.nextTryOfOthers(plan, now: now)
        }
        if !exhausted.isEmpty {
            let reason = deliveries.first { exhausted.contains($0.platform) }?.error ?? "unknown"
            settlement.dead = (
                follow(up: exhausted, attempt: message.attempt), "out of attempts: \(reason)"
            )
        }
        return settlement
    }

    private func follow(up platforms: [Platform], attempt: Int?) -> DispatchMessage {
        DispatchMessage(
            id: plan.id, platforms: platforms, attempt: attempt, traceparent: message.traceparent ?? plan.traceparent)
    }
}

extension DispatchPlan {
    /// The record of a notification that is not sent any more: what was not settled is skipped.
    func skipping(_ policy: DispatchPolicy, reason: String, now: Timestamp) -> DispatchOutcome {
        var deliveries = deliveries
        for platform in policy.owedPlatforms(self, asked: nil) {
            var delivery =
                deliveries.first { $0.platform == platform }
                ?? Delivery(platform: platform, state: .skipped, updatedAt: now)
            delivery.state = .skipped
            delivery.error = reason
            delivery.updatedAt = now
            deliveries.removeAll { $0.platform == platform }
            deliveries.append(delivery)
        }
        return DispatchOutcome(id: id, attempt: attempt, deliveries: deliveries)
    }
}

extension DispatchPlan {
    /// Puts `skipped` on record for owed platforms on which the recipient has no device.
    ///
    /// - Parameter registered: the platforms on which there is one.
    /// - Returns: the platforms that are skipped now.
    mutating func skip(_ policy: DispatchPolicy, except registered: Set<Platform>, now: Timestamp) -> [Platform] {
        let skipped = policy.owedPlatforms(self, asked: nil).filter { platform in
            // What was tried before is settled as it was begun.
            !registered.contains(platform) && !deliveries.contains { $0.platform == platform && $0.state != .pending }
        }
        deliveries.removeAll { skipped.contains($0.platform) }
        deliveries += skipped.map { platform in
            Delivery(
                platform: platform, state: .skipped, error: "The recipient has no device registered for it.",
                updatedAt: now)
        }
        return skipped
    }

    /// The deliveries, with claims that were never recorded put down to what is owed beside an attempt's platforms:
    /// what a message did not ask for may have been sent by them as well.
    func noted(_ policy: DispatchPolicy, besides platforms: [Platform], now: Timestamp) -> [Delivery] {
        var deliveries = deliveries
        guard unrecordedClaims > 0 else { return deliveries }
        for platform in policy.owedPlatforms(self, asked: nil) where !platforms.contains(platform) {
            let position = deliveries.firstIndex { $0.platform == platform }
            var delivery =
                position.map { deliveries[$0] } ?? Delivery(platform: platform, state: .pending, updatedAt: now)
            delivery.unanswered += unrecordedClaims
            if let position { deliveries[position] = delivery } else { deliveries.append(delivery) }
        }
        return deliveries
    }

    /// Puts `skipped` on record for platforms that were asked for and that are not among `HUB_PLATFORMS` here: else
    /// nothing would ever tell what became of them.
    func skippingUnserved(_ policy: DispatchPolicy, now: Timestamp) -> DispatchPlan {
        guard let platforms, !platforms.allSatisfy(policy.platforms.contains) else { return self }
        var plan = self
        for platform in platforms where !policy.platforms.contains(platform) {
            guard !deliveries.contains(where: { $0.platform == platform }) else { continue }
            plan.deliveries.append(
                Delivery(
                    platform: platform, state: .skipped, error: "The dispatcher is not set up for it (HUB_PLATFORMS).",
                    updatedAt: now))
        }
        return plan
    }
}
