import Domain
import Foundations
import Testing

@testable import Dispatcher

/// What is stored and published of an attempt that a lane held, in part or as a whole.
@Suite struct HeldRecordTests {
    let now = Timestamp(milliseconds: 1_000_000)
    let policy = DispatchPolicy(maxAttempts: 3)
    let hold = LaneHold(reason: "the hub throttles", pause: .seconds(4), crowd: 1)
    static let sent = SendOutcome.sent(hubMessageID: "m")

    func settlement(
        _ answers: [(Platform, LaneAnswer)], deliveries: [Delivery] = [], unrecorded: Int = 0,
        message: (platforms: [Platform]?, attempt: Int?) = (nil, nil)
    ) throws -> Settlement {
        let plan = DispatchPlan(
            id: NotificationID(), recipient: try #require(UserName("alice")), expiresAt: .now + .seconds(60),
            attempt: 7, unrecordedClaims: unrecorded, deliveries: deliveries)
        let message = DispatchMessage(id: plan.id, platforms: message.platforms, attempt: message.attempt)
        let attempt = DispatchAttempt(
            delivery: DispatchDelivery(tag: 1, epoch: 1, message: message), message: message, plan: plan,
            platforms: answers.map(\.0))
        for (index, answer) in answers.enumerated() { _ = attempt.complete(index, answer.1) }
        return attempt.settlement(policy, now: now)
    }

    @Test func `What was never tried stays pending`() throws {
        let settlement = try settlement([
            (.apple, .answered(Self.sent, hold: nil)), (.fcmv1, .held(hold)), (.windows, .held(hold)),
        ])
        let outcome = try #require(settlement.outcome)
        let error = "The lane is paused: the hub throttles."
        #expect(
            outcome.deliveries == [
                Delivery(platform: .apple, state: .sent, attempts: 1, hubMessageID: "m", updatedAt: now),
                Delivery(platform: .fcmv1, state: .pending, error: error, updatedAt: now),
                Delivery(platform: .windows, state: .pending, error: error, updatedAt: now),
            ])
        #expect(outcome.status == .queued)
        // The five seconds' queue covers the pause.
        #expect(outcome.nextTry == now + .seconds(5))
        let retry = try #require(settlement.retry)
        #expect(retry.delay == 1)
        #expect(retry.message.platforms == [.fcmv1, .windows])
        #expect(retry.message.attempt == 1)
    }

    @Test func `What was tried keeps its attempts`() throws {
        let before = Delivery(
            platform: .windows, state: .retrying, attempts: 2, unanswered: 1, error: "503", updatedAt: .now)
        let settlement = try settlement(
            [(.windows, .held(hold))], deliveries: [before], unrecorded: 1, message: ([.windows], 2))
        let delivery = try #require(settlement.outcome?.deliveries.first)
        #expect(delivery.state == .retrying && delivery.attempts == 2)
        #expect(delivery.unanswered == 2)
        // A hold is no retry.
        #expect(settlement.retry?.message.attempt == 2)
        #expect(settlement.dead == nil)
    }

    @Test func `The back-off of what failed is kept`() throws {
        let long = LaneHold(reason: "the hub throttles", pause: .seconds(100), crowd: 1)
        let settlement = try settlement([
            (.apple, .answered(.unavailable(reason: "503", retryAfter: nil), hold: nil)), (.windows, .held(long)),
        ])
        #expect(settlement.retry?.delay == 0)
        #expect(settlement.retry?.message.platforms == [.apple, .windows])
        #expect(settlement.outcome?.nextTry == now + .seconds(1))
    }

    @Test func `The shortest hold decides`() throws {
        let short = LaneHold(reason: "the hub is slow", pause: .zero, crowd: 1)
        let settlement = try settlement([(.apple, .held(hold)), (.fcmv1, .held(short)), (.windows, .held(hold))])
        #expect(settlement.retry?.delay == 0)
    }

    @Test(arguments: [
        (SendOutcome.throttled(retryAfter: .seconds(20)), 2), (.throttled(retryAfter: .seconds(600)), 4),
        (.throttled(retryAfter: nil), 1), (.unauthorized(reason: "HTTP 401"), 1), (.hubNotFound(reason: "HTTP 404"), 1),
    ])
    func `What the hub sent away uses up no attempt`(_ outcome: SendOutcome, _ delay: Int) throws {
        let settlement = try settlement([(.apple, .answered(outcome, hold: hold))])
        #expect(settlement.outcome?.deliveries.first?.attempts == 0)
        #expect(settlement.outcome?.deliveries.first?.state == .retrying)
        #expect(settlement.retry?.delay == delay)
    }

    /// A thousand sends that wait for one connection: what was not sent uses up no attempt.
    @Test func `What was not sent uses up no attempt`() throws {
        let settlement = try settlement([(.apple, .answered(.notSent(reason: "no connection to the hub"), hold: hold))])
        #expect(settlement.outcome?.deliveries.first?.attempts == 0)
        #expect(settlement.outcome?.deliveries.first?.state == .pending)
        #expect(settlement.retry?.delay == 1)
        #expect(settlement.dead == nil)
    }

    /// The header is 1 to 1,000, whatever came.
    @Test(arguments: [(1, 2), (999, 1000), (1000, 1000), (Int.max, 1000), (0, 1), (Int.min, 1)])
    func `The retry number stays in its range`(_ attempt: Int, _ next: Int) throws {
        let failed = SendOutcome.unavailable(reason: "503", retryAfter: nil)
        let settlement = try settlement([(.apple, .answered(failed, hold: nil))], message: ([.apple], attempt))
        #expect(settlement.retry?.message.attempt == next)
    }

    @Test func `The largest numbers of attempts overflow nothing`() throws {
        let most = Int(Int32.max)
        let before = Delivery(platform: .apple, state: .retrying, attempts: most, unanswered: most, updatedAt: .now)
        let settlement = try settlement(
            [(.apple, .answered(.unanswered(reason: "x"), hold: nil))], deliveries: [before], unrecorded: most)
        #expect(settlement.outcome?.deliveries.first?.unanswered == 2 * most + 1)
        #expect(settlement.outcome?.deliveries.first?.state == .dead)
    }

    @Test func `A message for some platforms does not close the others`() throws {
        let owed = Delivery(platform: .windows, state: .retrying, attempts: 1, updatedAt: now)
        let settlement = try settlement(
            [(.apple, .answered(Self.sent, hold: nil))], deliveries: [owed], message: ([.apple], 1))
        #expect(settlement.retry == nil)
        #expect(settlement.outcome?.nextTry == now + .seconds(600))
    }

    @Test func `Nothing owed has no next try`() throws {
        let settlement = try settlement([
            (.apple, .answered(Self.sent, hold: nil)), (.fcmv1, .answered(.rejected(reason: "400"), hold: nil)),
            (.windows, .answered(Self.sent, hold: nil)),
        ])
        #expect(settlement.outcome?.nextTry == nil)
        #expect(settlement.retry == nil)
    }
}
