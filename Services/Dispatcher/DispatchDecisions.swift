import Domain
import Foundations

/// The settings that decide about each notification.
struct DispatchPolicy: Sendable {
    /// The platforms that notifications are sent to (`HUB_PLATFORMS`).
    var platforms: [Platform] = [.apple, .fcmv1, .windows]
    /// The number of requests to the hub for one platform before it is given up (`DISPATCH_MAX_ATTEMPTS`).
    var maxAttempts = 10
    var retryDelays = RetryDelays.standard
    /// When pushed notifications are withdrawn (`DISPATCH_WITHDRAW`).
    var withdrawals = WithdrawalMode.revoked
}

/// The next step of a delivery whose notification has been claimed.
enum DispatchStep {
    /// The row cannot be read, so the message is dead-lettered.
    case deadLetter(DeadLetterDraft)
    /// The store does not know the notification: nothing to do.
    case drop
    /// The notification must not be sent any more.
    case skip(DispatchOutcome)
    /// Send to these platforms. If there are none, only the record is completed.
    case send(DispatchPlan, platforms: [Platform])
}

extension DispatchClaims {
    func step(for message: DispatchMessage, _ policy: DispatchPolicy, now: Timestamp) -> DispatchStep {
        if let error = unreadable[message.id] {
            return .deadLetter(DeadLetterDraft(message: message, unreadable: error))
        }
        guard let plan = self[message.id]?.skippingUnserved(policy, now: now) else { return .drop }
        if let reason = plan.reasonNotToSend(now: now) {
            return .skip(plan.outcomeSkippingAll(policy, reason: reason, now: now))
        }
        return .send(plan, platforms: policy.owedPlatforms(plan, asked: message.platforms))
    }
}

extension DispatchPolicy {
    /// The platforms that a claimed notification still has to be sent to, in the order of `HUB_PLATFORMS`.
    ///
    /// The stored outcomes decide; the header of a retry (`asked`) can only narrow the result. So a platform that
    /// succeeded is not sent to again, even if the broker delivers a message twice.
    func owedPlatforms(_ plan: DispatchPlan, asked: [Platform]?) -> [Platform] {
        let wanted = plan.platforms.map { wanted in platforms.filter(wanted.contains) } ?? platforms
        return wanted.filter { platform in
            if let asked, !asked.contains(platform) { return false }
            return !(plan.deliveries.first { $0.platform == platform }?.state.isSettled ?? false)
        }
    }

    /// The time at which the store may take up the platforms that are owed and that a message did not ask for. Another
    /// message holds these. It waits in a delay queue for at most this long, unless the broker has lost it.
    func nextTryOfOthers(_ plan: DispatchPlan, now: Timestamp) -> Timestamp? {
        owedPlatforms(plan, asked: nil).isEmpty ? nil : now + (retryDelays.delays.max() ?? .zero)
    }

    /// The record of a platform after its lane's answer. A delivery that was held was not tried: only its error
    /// changes.
    func delivery(
        of platform: Platform, after answer: LaneAnswer, previous: Delivery?, now: Timestamp
    ) -> Delivery {
        var delivery = previous ?? Delivery(platform: platform, state: .pending, updatedAt: now)
        delivery.updatedAt = now
        switch answer {
        case .answered(let outcome, _): delivery.apply(outcome, maxAttempts: maxAttempts)
        case .held(let hold): delivery.error = "The lane is paused: \(hold.reason)."
        case .coalesced(let id):
            (delivery.state, delivery.coalescedInto) = (.sent, id)
            (delivery.error, delivery.silentSequence) = (nil, nil)
        case .waits(let wait): (delivery.error, delivery.silentSequence) = (SilentWait.reason, wait.sequence)
        }
        if answer.isAccepted {
            // The process that stores the first read does not know this setting.
            delivery.isWithdrawnOnRead = withdrawals.applies(isRevoked: false, isRead: true)
        }
        return delivery
    }
}

extension Delivery {
    /// Applies the hub's response to one more try.
    fileprivate mutating func apply(_ outcome: SendOutcome, maxAttempts: Int) {
        let meaning = outcome.meaning
        error = meaning.error
        if meaning.isHeld {
            // Without a connection it was not tried, so its state does not change.
            if meaning.problem != .unreachable { state = .retrying }
            return
        }
        attempts += 1
        if case .sent(let hubMessageID, let result) = outcome {
            (state, silentSequence) = (.sent, nil)
            (self.hubMessageID, self.outcome) = (hubMessageID, result?.text)
            return
        }
        // If nothing is wrong with the hub, the same request would fail again.
        state = meaning.problem != nil && attempts < maxAttempts ? .retrying : .dead
        if meaning.problem == .silent { unanswered += 1 }
    }
}

extension DispatchPlan {
    /// Why the notification must not be sent any more, or `nil`.
    func reasonNotToSend(now: Timestamp) -> String? {
        if isRevoked { return "revoked" }
        return expiresAt <= now ? "expired" : nil
    }

    /// The record of a notification that is not sent any more: every platform without a final result is skipped.
    func outcomeSkippingAll(_ policy: DispatchPolicy, reason: String, now: Timestamp) -> DispatchOutcome {
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

    /// Records `skipped` for owed platforms on which the recipient has no device.
    ///
    /// - Parameter registered: the platforms on which the recipient has a device.
    /// - Returns: the platforms that are skipped now.
    mutating func skip(_ policy: DispatchPolicy, except registered: Set<Platform>, now: Timestamp) -> [Platform] {
        let skipped = policy.owedPlatforms(self, asked: nil).filter { platform in
            // A platform that was tried before is tried until its outcome is final.
            !registered.contains(platform) && !deliveries.contains { $0.platform == platform && $0.state != .pending }
        }
        deliveries.removeAll { skipped.contains($0.platform) }
        deliveries += skipped.map { platform in
            Delivery(
                platform: platform, state: .skipped,
                error: "The recipient has no device registered on this platform.", updatedAt: now)
        }
        return skipped
    }

    /// Records `skipped` for platforms that the sender asked for and that are not in `HUB_PLATFORMS` here. Otherwise
    /// the record would never show a result for them.
    func skippingUnserved(_ policy: DispatchPolicy, now: Timestamp) -> DispatchPlan {
        guard let platforms, !platforms.allSatisfy(policy.platforms.contains) else { return self }
        var plan = self
        for platform in platforms where !policy.platforms.contains(platform) {
            guard !deliveries.contains(where: { $0.platform == platform }) else { continue }
            plan.deliveries.append(
                Delivery(
                    platform: platform, state: .skipped,
                    error: "The dispatcher does not serve this platform (HUB_PLATFORMS).", updatedAt: now))
        }
        return plan
    }

    /// The deliveries. Claims whose outcome was never recorded are added to the owed platforms that this attempt does
    /// not send to, because those claims may have sent to them.
    func deliveriesWithUnrecordedClaims(_ policy: DispatchPolicy, besides platforms: [Platform], now: Timestamp)
        -> [Delivery]
    {
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

    /// The outcome if nothing that the message asked for is owed: stores the deliveries unchanged, so that the status
    /// is right. If the message named only some platforms, others may still be owed.
    func outcomeIfNothingIsOwed(_ policy: DispatchPolicy, now: Timestamp) -> DispatchOutcome? {
        let deliveries = deliveriesWithUnrecordedClaims(policy, besides: [], now: now)
        guard !deliveries.isEmpty else { return nil }
        return DispatchOutcome(
            id: id, attempt: attempt, deliveries: deliveries, nextTry: policy.nextTryOfOthers(self, now: now))
    }
}

extension Array {
    func partitioned(_ condition: (Element) -> Bool) -> (satisfying: [Element], others: [Element]) {
        var parts: (satisfying: [Element], others: [Element]) = ([], [])
        for element in self {
            if condition(element) { parts.satisfying.append(element) } else { parts.others.append(element) }
        }
        return parts
    }
}
