import SecurePushCore

/// Why a message goes to the dead-letter queue, in the few words of the label `reason`.
enum DeadLetterCause: Sendable, Hashable {
    /// The attempts are used up.
    case attempts
    /// The hub refused the request for good; without a status the request could not be written.
    case refused(status: Int?)
    /// The body of the message is no notification's ID; the consumer moves it.
    case body
    /// The row in the store cannot be read.
    case record
    /// It was given up before, and the broker has delivered the message again: its letter may not have been confirmed.
    case redelivered

    /// The statuses that are told apart: a label must not have as many values as a peer can send.
    private static let toldApart: Set<Int> = [400, 405, 410, 411, 413, 415]

    /// The label `reason` of `securepush_dead_lettered_total`.
    var label: String {
        switch self {
        case .attempts: "attempts"
        case .refused(let status?): Self.toldApart.contains(status) ? "http_\(status)" : "http_other"
        case .refused(nil): "invalid"
        case .body: "unreadable"
        case .record: "record"
        case .redelivered: "redelivered"
        }
    }

    /// Every label there can be.
    static let labels =
        toldApart.map { "http_\($0)" } + ["attempts", "http_other", "invalid", "unreadable", "record", "redelivered"]
}

/// A dead letter that is to be published.
struct DeadLetterDraft: Sendable, Hashable {
    var message: DispatchMessage
    /// For operators; never anything of a payload.
    var reason: String
    var cause: DeadLetterCause
}

/// What follows from an attempt: what to store, and what to publish before the delivery is acknowledged.
struct Settlement: Sendable {
    var delivery: DispatchDelivery
    /// The whole record of deliveries, or `nil` where nothing changed.
    var outcome: DispatchOutcome?
    /// What failed and has attempts left, with the index of its delay.
    var retry: (message: DispatchMessage, delay: Int)?
    /// What was given up.
    var dead: DeadLetterDraft?

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
        var dead = givenUpBefore
        for (platform, answer) in answers {
            let position = deliveries.firstIndex { $0.platform == platform }
            var updated = policy.delivery(
                of: platform, after: answer, previous: position.map { deliveries[$0] }, now: now)
            // A claim without an outcome may have reached the hub on every platform that was owed then.
            updated.unanswered += plan.unrecordedClaims
            if let position { deliveries[position] = updated } else { deliveries.append(updated) }
            if !updated.state.isSettled {
                owed.add(updated, answer, policy.retryDelays)
            } else if updated.state == .dead {
                dead.append((updated, answer.cause))
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
        settlement.dead = letter(dead)
        return settlement
    }

    /// What an earlier attempt gave up. Where the broker delivers a message again, the letter of then may not have been
    /// confirmed; a second one does no harm.
    private var givenUpBefore: [(delivery: Delivery, cause: DeadLetterCause)] {
        guard delivery.isRedelivered else { return [] }
        return plan.deliveries.filter { $0.state == .dead }.map { ($0, .redelivered) }
    }

    /// One letter for all platforms that are given up, with the reason of each.
    private func letter(_ dead: [(delivery: Delivery, cause: DeadLetterCause)]) -> DeadLetterDraft? {
        guard let first = dead.first else { return nil }
        var reasons: [String] = []
        for (delivery, cause) in dead {
            let error = delivery.error ?? "unknown"
            let reason = cause == .attempts ? "out of attempts: \(error)" : error
            if !reasons.contains(reason) { reasons.append(reason) }
        }
        return DeadLetterDraft(
            message: follow(up: dead.map(\.delivery.platform), attempt: message.attempt),
            reason: reasons.joined(separator: "; "), cause: first.cause)
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
