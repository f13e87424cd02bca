import Domain
import Foundations
import Logging
import Synchronization

/// One claimed notification on its way through the hub: collects the answers of its platforms.
///
/// The lanes answer on the gateway's threads. The last answer completes the attempt.
final class DispatchAttempt: Sendable {
    let delivery: DispatchDelivery
    let message: DispatchMessage
    let plan: DispatchPlan
    let platforms: [Platform]
    /// The span of the message; `nil` if it is not traced.
    let trace: ProcessTrace?

    private struct State {
        var answers: [LaneAnswer?]
        var missing: Int
        /// The silent pushes of this attempt, by the index of the platform.
        var grants: [Int: SilentPushGrant] = [:]
    }

    private let state: Mutex<State>

    init(
        delivery: DispatchDelivery, message: DispatchMessage, plan: DispatchPlan, platforms: [Platform],
        trace: ProcessTrace? = nil
    ) {
        self.delivery = delivery
        self.message = message
        self.plan = plan
        self.platforms = platforms
        self.trace = trace
        state = Mutex(State(answers: Array(repeating: nil, count: platforms.count), missing: platforms.count))
    }

    /// Keeps the answer for the platform at an index; `true` for the last answer.
    func complete(_ index: Int, _ answer: LaneAnswer) -> Bool {
        state.withLock { state in
            guard state.answers[index] == nil else { return false }
            state.answers[index] = answer
            state.missing -= 1
            return state.missing == 0
        }
    }

    /// Keeps the silent push of the recipient that a send uses up. Call it before the send.
    func keep(_ grant: SilentPushGrant, at index: Int) { state.withLock { $0.grants[index] = grant } }

    func grant(at index: Int) -> SilentPushGrant? { state.withLock { $0.grants[index] } }

    /// Calls `body` with each platform's answer, once all are there.
    func forEachAnswer(_ body: (Platform, LaneAnswer, SilentPushGrant?) -> Void) {
        let (answers, grants) = state.withLock { ($0.answers, $0.grants) }
        for (index, platform) in platforms.enumerated() {
            guard let answer = answers[index] else { continue }
            body(platform, answer, grants.isEmpty ? nil : grants[index])
        }
    }
}

/// The consequences of an attempt: the outcome to store, and the messages to publish before the acknowledgement.
struct Settlement: Sendable {
    var delivery: DispatchDelivery
    /// The whole record of deliveries, or `nil` if nothing changed.
    var outcome: DispatchOutcome?
    /// The platforms that failed and have attempts left, with the index of the delay.
    var retry: (message: DispatchMessage, delay: Int)?
    /// The platforms that were given up.
    var dead: DeadLetterDraft?
    /// The silent pushes that the hub has certainly not accepted.
    var releases: [SilentPushRelease] = []
    /// The number of platforms on which another silent push covers the notification.
    var coalesced = 0
    /// The outcome of a follow-up, in place of ``outcome``.
    var followUp: SettledFollowUp?
    /// The span of the message, which ends when the delivery is acknowledged or requeued.
    var trace: ProcessTrace?

    /// Whether something must be published before the delivery is acknowledged.
    var publishes: Bool { retry != nil || dead != nil }

    /// Drops the messages if a later claim of the notification exists. That claim covers all platforms that are owed. A
    /// message of this attempt would name only some of them.
    func droppingMessages(ifIn fenced: Set<NotificationID>) -> Settlement {
        guard let outcome, fenced.contains(outcome.id) else { return self }
        return Settlement(delivery: delivery, trace: trace)
    }
}

/// The deliveries of an attempt after the hub's answers, and the consequences for each platform.
struct AnswerTally {
    var deliveries: [Delivery]
    var owed = OwedPlatforms()
    var waiting = WaitingPlatforms()
    /// The platforms that were given up.
    var dead: [(delivery: Delivery, cause: DeadLetterCause)] = []
    /// The platforms on which the hub has accepted the send, or another silent push that covers it.
    var accepted: [Platform] = []
    /// See ``Settlement/releases``.
    var releases: [SilentPushRelease] = []
    /// See ``Settlement/coalesced``.
    var coalesced = 0
}

extension DispatchAttempt {
    /// Counts the answers.
    ///
    /// - Parameters:
    ///   - deliveries: the records before the attempt.
    ///   - adjust: changes the new record of a platform before it counts.
    func tally(
        _ deliveries: [Delivery], _ policy: DispatchPolicy, now: Timestamp,
        adjust: (inout Delivery, LaneAnswer) -> Void
    ) -> AnswerTally {
        var tally = AnswerTally(deliveries: deliveries)
        tally.deliveries.reserveCapacity(deliveries.count + platforms.count)
        tally.accepted.reserveCapacity(platforms.count)
        forEachAnswer { platform, answer, grant in
            let position = tally.deliveries.firstIndex { $0.platform == platform }
            var updated = policy.delivery(
                of: platform, after: answer, previous: position.map { tally.deliveries[$0] }, now: now)
            adjust(&updated, answer)
            if let position { tally.deliveries[position] = updated } else { tally.deliveries.append(updated) }
            if answer.isAccepted { tally.accepted.append(platform) }
            if case .coalesced = answer { tally.coalesced += 1 }
            if let grant, !answer.mayHaveBeenPushed {
                tally.releases.append(SilentPushRelease(grant, isOwed: !updated.state.isSettled))
            }
            if case .waits(let wait) = answer {
                tally.waiting.add(platform, until: wait.until)
            } else if !updated.state.isSettled {
                tally.owed.add(updated, answer, policy.retryDelays)
            } else if updated.state == .dead {
                tally.dead.append((updated, answer.cause))
            }
        }
        return tally
    }

    func settlement(_ policy: DispatchPolicy, now: Timestamp) -> Settlement {
        if let followUp = message.followUp { return settlement(of: followUp, policy, now: now) }
        let tally = tally(plan.deliveriesWithUnrecordedClaims(policy, besides: platforms, now: now), policy, now: now) {
            delivery, _ in
            // A claim without an outcome may have reached the hub on every platform that was owed then.
            delivery.unanswered += plan.unrecordedClaims
        }
        var settlement = Settlement(
            delivery: delivery, releases: tally.releases, coalesced: tally.coalesced, trace: trace)
        var outcome = DispatchOutcome(id: plan.id, attempt: plan.attempt, deliveries: tally.deliveries)
        if !plan.remind.isEmpty, !tally.accepted.isEmpty { outcome.pushedAt = now }
        if let delay = tally.owed.delay(policy.retryDelays) {
            // A hold is not a retry and keeps the number. A notification's first message has no number yet.
            let attempt = tally.owed.failures > 0 ? message.nextAttempt : message.attempt ?? 1
            settlement.retry = (message(for: tally.owed.platforms + tally.waiting.platforms, attempt: attempt), delay)
            outcome.nextTry = now + policy.retryDelays.delays[delay]
        } else if let until = tally.waiting.until {
            outcome.dueAgain = until
        } else if message.platforms != nil {
            var plan = plan
            plan.deliveries = tally.deliveries
            outcome.nextTry = policy.nextTryOfOthers(plan, now: now)
        }
        settlement.outcome = outcome
        settlement.dead = letter(givenUpBefore + tally.dead)
        return settlement
    }

    /// The platforms that an earlier attempt gave up, if the broker delivers the message again: their dead letter may
    /// not have been confirmed. A second one does no harm.
    private var givenUpBefore: [(delivery: Delivery, cause: DeadLetterCause)] {
        guard delivery.isRedelivered else { return [] }
        return plan.deliveries.filter { $0.state == .dead }.map { ($0, .redelivered) }
    }

    /// One dead letter for all platforms that are given up, with the reason of each.
    private func letter(_ dead: [(delivery: Delivery, cause: DeadLetterCause)]) -> DeadLetterDraft? {
        guard let first = dead.first else { return nil }
        var reasons: [String] = []
        for (delivery, cause) in dead {
            let error = delivery.error ?? "unknown"
            let reason = cause == .attempts ? "out of attempts: \(error)" : error
            if !reasons.contains(reason) { reasons.append(reason) }
        }
        return DeadLetterDraft(
            message: message(for: dead.map(\.delivery.platform), attempt: message.attempt),
            reason: reasons.joined(separator: "; "), cause: first.cause)
    }

    private func message(for platforms: [Platform], attempt: Int?) -> DispatchMessage {
        DispatchMessage(
            id: plan.id, platforms: platforms, attempt: attempt,
            traceparent: trace?.traceparent ?? message.traceparent ?? plan.traceparent)
    }
}

/// The platforms that an attempt leaves owed, and the delay of their retry. One message names all of them: two messages
/// of one notification in two dispatchers would fence off each other's outcomes.
struct OwedPlatforms {
    private(set) var platforms: [Platform] = []
    /// The largest number of requests that a failed platform has used up; 0 if none failed.
    private(set) var failures = 0
    private var retryAfter: Duration?
    /// The index of the shortest delay among the platforms that are held or throttled.
    private var hold: Int?

    mutating func add(_ delivery: Delivery, _ answer: LaneAnswer, _ delays: RetryDelays) {
        platforms.append(delivery.platform)
        let asked = answer.retryAfter
        guard let held = answer.hold else {
            failures = max(failures, delivery.attempts)
            if let asked { retryAfter = max(retryAfter ?? .zero, asked) }
            return
        }
        // A response of the hub says when to come back. A hold of the lane lasts until the lane is next checked.
        let index = asked.map { delays.index(beforeRetry: 1, atLeast: $0) } ?? delays.index(holding: held)
        if let other = hold, delays.delays[other] <= delays.delays[index] { return }
        hold = index
    }

    /// The index of the message's delay, or `nil` if nothing is owed.
    ///
    /// The back-off of failed platforms decides, and held platforms come along: otherwise a failing platform would use
    /// up its attempts at the pace of a held one. A platform that is still paused then is held again, at no cost.
    func delay(_ delays: RetryDelays) -> Int? {
        guard failures > 0 else { return hold }
        var generator = SystemRandomNumberGenerator()
        return delays.jitteredIndex(beforeRetry: failures, atLeast: retryAfter, using: &generator)
    }
}

extension Logger {
    /// Logs one answer at debug level, with the trace that the sender began.
    func trace(_ answer: LaneAnswer, of attempt: DispatchAttempt, platform: Platform) {
        guard logLevel <= .debug else { return }
        var metadata: Logger.Metadata = [
            "notification_id": "\(attempt.plan.id)", "platform": "\(platform)", "result": "\(answer.label)",
            "attempt": "\(attempt.plan.attempt)",
        ]
        let parent = attempt.message.traceparent ?? attempt.plan.traceparent
        if let context = parent.flatMap({ TraceContext(traceparent: $0) }) {
            metadata[TraceContext.LogKey.traceID] = "\(context.traceID)"
            metadata[TraceContext.LogKey.spanID] = "\(context.spanID)"
        }
        debug("A lane answered", metadata: metadata)
    }
}
