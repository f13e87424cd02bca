import SecurePushCore

/// What a dispatcher is set up to do with each notification.
struct DispatchPolicy: Sendable {
    /// The platforms fanned out to (`HUB_PLATFORMS`).
    var platforms: [Platform] = [.apple, .fcmv1, .windows]
    /// Requests to the hub for one platform before it is given up (`DISPATCH_MAX_ATTEMPTS`).
    var maximumAttempts = 10
    var retryDelays = RetryDelays.standard

    /// The platforms that a claimed notification still has to be sent to, in the order of `HUB_PLATFORMS`.
    ///
    /// The stored outcomes decide; what a retry's header names only narrows it. So a platform that succeeded is not
    /// sent again, whatever the broker delivers twice.
    func owedPlatforms(_ plan: DispatchPlan, asked: [Platform]?) -> [Platform] {
        let wanted = plan.platforms.map { wanted in platforms.filter(wanted.contains) } ?? platforms
        return wanted.filter { platform in
            if let asked, !asked.contains(platform) { return false }
            return !(plan.deliveries.first { $0.platform == platform }?.state.isSettled ?? false)
        }
    }

    /// When the store may take up what is owed beside the platforms that a message asked for: another message holds
    /// it, which waits in a delay queue at most this long, unless the broker has lost it.
    func nextTryOfOthers(_ plan: DispatchPlan, now: Timestamp) -> Timestamp? {
        owedPlatforms(plan, asked: nil).isEmpty ? nil : now + (retryDelays.delays.max() ?? .zero)
    }

    /// The record of a platform after its lane's answer.
    ///
    /// What was held is as it was, but for the reason: it was not tried.
    func delivery(
        of platform: Platform, after answer: LaneAnswer, previous: Delivery?, now: Timestamp
    ) -> Delivery {
        switch answer {
        case .answered(let outcome, _):
            return delivery(of: platform, after: outcome, previous: previous, now: now)
        case .held(let hold):
            var delivery = previous ?? Delivery(platform: platform, state: .pending, updatedAt: now)
            delivery.updatedAt = now
            delivery.error = "The lane is paused: \(hold.reason)."
            return delivery
        }
    }

    /// The record of a platform after the hub's answer to one more try.
    func delivery(
        of platform: Platform, after outcome: SendOutcome, previous: Delivery?, now: Timestamp
    ) -> Delivery {
        var delivery = previous ?? Delivery(platform: platform, state: .pending, updatedAt: now)
        delivery.updatedAt = now
        delivery.attempts += 1
        delivery.error = nil
        switch outcome {
        case .sent(let hubMessageID):
            delivery.state = .sent
            delivery.hubMessageID = hubMessageID
        case .throttled:
            // Nothing is wrong with the notification: being told to slow down uses up no attempt.
            delivery.attempts -= 1
            delivery.state = .retrying
            delivery.error = "The hub throttles."
        case .unauthorized(let reason), .hubNotFound(let reason):
            // Nor when it is our credentials, or the name of the hub, that are wrong.
            delivery.attempts -= 1
            delivery.state = .retrying
            delivery.error = reason
        case .notSent(let reason):
            // It was not tried, so it is as it was.
            delivery.attempts -= 1
            delivery.error = reason
        case .unavailable(let reason, _):
            delivery.state = delivery.attempts < maximumAttempts ? .retrying : .dead
            delivery.error = reason
        case .unanswered(let reason):
            delivery.state = delivery.attempts < maximumAttempts ? .retrying : .dead
            delivery.unanswered += 1
            delivery.error = reason
        case .rejected(let reason, _):
            delivery.state = .dead
            delivery.error = reason
        }
        return delivery
    }
}

extension SendOutcome {
    /// How long the hub asked to wait.
    var retryAfter: Duration? {
        switch self {
        case .throttled(let retryAfter), .unavailable(_, let retryAfter): retryAfter
        case .unanswered, .sent, .rejected, .unauthorized, .hubNotFound, .notSent: nil
        }
    }
}

extension LaneAnswer {
    /// How long the hub asked to wait.
    var retryAfter: Duration? {
        switch self {
        case .answered(let outcome, _): outcome.retryAfter
        case .held: nil
        }
    }

    /// When it is tried again without an attempt being used up.
    var hold: LaneHold? {
        switch self {
        case .answered(_, let hold): hold
        case .held(let hold): hold
        }
    }

    /// Why a delivery that is dead after this answer was given up.
    var cause: DeadLetterCause {
        if case .answered(.rejected(_, let status), _) = self { .refused(status: status) } else { .attempts }
    }
}
