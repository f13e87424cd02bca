import Domain
import Foundations
import Logging
import NotificationHubs
import Tracing

extension DispatchPipeline {
    /// Claims withdrawals and reminders and starts their sends; returns without waiting for the hub.
    ///
    /// They use the lanes of the pushes. A retry is a time in the store instead of a message in a delay queue: the
    /// relay's sweep publishes the follow-up again.
    func dispatchFollowUps(_ deliveries: [DispatchDelivery], at arrival: DefaultTracerClock.Timestamp?) async {
        let asked = deliveries.compactMap { $0.message?.followUp }
        let claim = GroupWrite<FollowUp, FollowUpClaims>.claim(store)
        let result = await self.claim(asked, by: claim) { try await settler.recorder.expectFollowUps() }
        if result.values.contains(where: { !$0.plans.isEmpty }) { settler.recorder.followUpsWereClaimed() }
        let unclaimed = Set(result.left)
        let (left, claimed) = deliveries.partitioned { $0.message?.followUp.map(unclaimed.contains) ?? false }
        if result.isRetriable {
            consumer.requeue(settler.release(left))
        } else {
            // The store refuses all of them. They become due again, at growing intervals.
            settler.settle(left.map { Settlement(delivery: $0) })
        }
        await start(claimed, result.claims, at: arrival)
    }

    private func start(
        _ deliveries: [DispatchDelivery], _ claims: FollowUpClaims, at arrival: DefaultTracerClock.Timestamp?
    ) async {
        let now = Timestamp.now
        var done: [Settlement] = []
        var attempts: [DispatchAttempt] = []
        for delivery in deliveries {
            guard let message = delivery.message, let followUp = message.followUp else { continue }
            let trace = trace(of: delivery, message, stored: claims.plans[followUp]?.traceparent, at: arrival)
            guard let plan = claims.plans[followUp] else {
                // Without an error it was done, or it is not due any more.
                let letter = claims.unreadable[followUp].map { DeadLetterDraft(message: message, unreadable: $0) }
                done.append(Settlement(delivery: delivery, dead: letter, trace: trace))
                continue
            }
            let platforms = policy.platforms(of: plan)
            let attempt = DispatchAttempt(
                delivery: delivery, message: message, plan: plan, platforms: platforms, trace: trace)
            if platforms.isEmpty {
                done.append(attempt.settlement(policy, now: now))
            } else {
                attempts.append(attempt)
            }
        }
        await carryOut(attempts, done, now: now)
    }
}

extension DispatchPolicy {
    /// The platforms that a claimed follow-up is sent to: those that accepted the push and are still owed it. None for
    /// a withdrawal that this dispatcher's setting does not allow.
    func platforms(of plan: DispatchPlan) -> [Platform] {
        if plan.work == .withdrawal, !withdrawals.applies(isRevoked: plan.isRevoked, isRead: plan.isRead) { return [] }
        return owedPlatforms(plan, asked: nil)
    }
}

extension DispatchPlan {
    func native(for platform: Platform, now: Timestamp, _ data: PushData) -> HubNotification? {
        switch work {
        case .push, .reminder: notification(for: platform, now: now, data)
        case .withdrawal: HubNotification.withdrawal(for: platform, data)
        }
    }
}

/// A delivery counts as the same as an earlier one if it has the same notification and the same kind of work.
struct DispatchKey: Hashable, Sendable {
    var id: NotificationID
    /// `nil` for the notification's own push.
    var kind: FollowUp.Kind?
}

extension DispatchMessage {
    var key: DispatchKey { DispatchKey(id: id, kind: kind) }
}

/// The outcome of one attempt at a follow-up, with the values for the metrics.
struct SettledFollowUp: Sendable {
    var outcome: FollowUpOutcome
    /// The platforms that accepted it in this attempt.
    var sent: [Platform]
    /// Whether no platform had accepted it before.
    var isFirstSent: Bool
}

extension DispatchAttempt {
    /// Decides about the answers to a follow-up. A follow-up that is given up has no dead letter; its record shows it.
    func settlement(of followUp: FollowUp, _ policy: DispatchPolicy, now: Timestamp) -> Settlement {
        let tally = tally(plan.deliveries, policy, now: now) { delivery, answer in
            // A second withdrawal does no harm. A second reminder would.
            if followUp.kind == .reminder, !delivery.state.isSettled, answer.mayHaveBeenPushed {
                delivery.state = .dead
            }
        }
        let delay = tally.owed.delay(policy.retryDelays)
        let outcome = FollowUpOutcome(
            followUp: followUp, attempt: plan.attempt, deliveries: tally.deliveries,
            nextTry: delay.map { now + policy.retryDelays.delays[$0] } ?? tally.waiting.until)
        var settlement = Settlement(
            delivery: delivery, releases: tally.releases, coalesced: tally.coalesced, trace: trace)
        let wasSent = plan.deliveries.contains { $0.state == .sent }
        settlement.followUp = SettledFollowUp(
            outcome: outcome, sent: tally.accepted, isFirstSent: !wasSent && !tally.accepted.isEmpty)
        return settlement
    }
}

extension LaneAnswer {
    /// Whether the hub has accepted the send, or another silent push that covers it.
    var isAccepted: Bool {
        switch self {
        case .answered(.sent, _), .coalesced: true
        case .answered, .held, .waits: false
        }
    }
}
