import Domain
import Foundations
import Testing

@testable import Dispatcher

@Suite struct DispatchPolicyTests {
    let now = Timestamp(milliseconds: 1_000_000)
    let policy = DispatchPolicy(platforms: [.apple, .fcmv1, .windows], maxAttempts: 3)

    func plan(platforms: [Platform]? = nil, deliveries: [Delivery] = []) throws -> DispatchPlan {
        let alice = try #require(UserName("alice"))
        return DispatchPlan(
            id: NotificationID(), recipient: alice, platforms: platforms, expiresAt: .now + .seconds(60),
            deliveries: deliveries)
    }

    func delivery(_ platform: Platform, _ state: DeliveryState) -> Delivery {
        Delivery(platform: platform, state: state, attempts: 1, updatedAt: now)
    }

    private func recorded(_ outcome: SendOutcome, previous: Delivery? = nil) -> Delivery {
        policy.delivery(of: .apple, after: .answered(outcome, hold: nil), previous: previous, now: now)
    }

    @Test func `All platforms are owed at first`() throws {
        #expect(try policy.owedPlatforms(plan(), asked: nil) == [.apple, .fcmv1, .windows])
    }

    @Test func `The request narrows`() throws {
        #expect(try policy.owedPlatforms(plan(platforms: [.windows, .gcm]), asked: nil) == [.windows])
    }

    @Test(arguments: [DeliveryState.sent, .dead, .skipped])
    func `What is settled is not owed`(_ state: DeliveryState) throws {
        let plan = try plan(deliveries: [delivery(.apple, state), delivery(.fcmv1, .retrying)])
        #expect(policy.owedPlatforms(plan, asked: nil) == [.fcmv1, .windows])
        // A retry's header cannot bring a settled platform back.
        #expect(policy.owedPlatforms(plan, asked: [.apple, .fcmv1]) == [.fcmv1])
    }

    @Test func `Sending is recorded`() {
        let delivery = recorded(.sent(hubMessageID: "m"))
        #expect(delivery == Delivery(platform: .apple, state: .sent, attempts: 1, hubMessageID: "m", updatedAt: now))
    }

    @Test func `The outcome that the hub tells at once is recorded`() throws {
        for (text, awaits) in [("Success", false), ("Success=1, Unknown=1", true), ("NoTargetFound", false)] {
            let outcome = try #require(MessageOutcome(text: text))
            let delivery = recorded(.sent(hubMessageID: "m", outcome: outcome))
            #expect(delivery.state == .sent && delivery.outcome == text && delivery.awaitsOutcome == awaits)
        }
    }

    @Test(arguments: WithdrawalMode.allCases)
    func `A sent delivery says whether a read withdraws it`(_ mode: WithdrawalMode) {
        var policy = policy
        policy.withdrawals = mode
        let answers: [LaneAnswer] = [
            .answered(.sent(hubMessageID: nil), hold: nil), .coalesced(into: NotificationID()),
        ]
        for answer in answers {
            let delivery = policy.delivery(of: .apple, after: answer, previous: nil, now: now)
            #expect(delivery.state == .sent && delivery.isWithdrawnOnRead == (mode == .read))
        }
        let failed = LaneAnswer.answered(.unanswered(reason: "timeout"), hold: nil)
        #expect(!policy.delivery(of: .apple, after: failed, previous: nil, now: now).isWithdrawnOnRead)
    }

    @Test func `Failures use up attempts`() {
        var delivery: Delivery?
        var states: [DeliveryState] = []
        for _ in 1...3 {
            delivery = recorded(.unavailable(reason: "503", retryAfter: nil), previous: delivery)
            states += delivery.map { [$0.state] } ?? []
        }
        #expect(states == [.retrying, .retrying, .dead])
        #expect(delivery?.attempts == 3)
        #expect(delivery?.error == "503")
    }

    @Test(
        arguments: [
            (.throttled(retryAfter: nil), "The hub throttles."), (.unauthorized(reason: "HTTP 401"), "HTTP 401"),
            (.hubNotFound(reason: "HTTP 404"), "HTTP 404"),
        ] as [(SendOutcome, String)])
    func `What is wrong with us or the hub uses up no attempt`(_ outcome: SendOutcome, _ error: String) {
        var delivery: Delivery?
        for _ in 1...10 { delivery = recorded(outcome, previous: delivery) }
        #expect(delivery?.state == .retrying && delivery?.attempts == 0 && delivery?.error == error)
    }

    @Test func `What was not sent is as it was`() {
        let before = Delivery(platform: .apple, state: .retrying, attempts: 2, unanswered: 1, updatedAt: .now)
        let outcome = SendOutcome.notSent(reason: "no connection to the hub")
        let first = recorded(outcome)
        #expect(first.state == .pending && first.attempts == 0 && first.unanswered == 0)
        let later = recorded(outcome, previous: before)
        #expect(later.state == .retrying && later.attempts == 2 && later.unanswered == 1)
        #expect(later.error == "no connection to the hub")
    }

    @Test func `A refusal is final`() {
        let delivery = recorded(.rejected(reason: "413"))
        #expect(delivery.state == .dead)
        #expect(delivery.attempts == 1)
    }

    @Test(arguments: [
        (1, nil, 0), (2, nil, 1), (9, nil, 4), (1, Duration.seconds(20), 2), (3, Duration.seconds(1), 2),
        (1, Duration.seconds(3600), 4),
    ])
    func `Delays grow and honour the hub`(_ retry: Int, _ atLeast: Duration?, _ index: Int) {
        #expect(RetryDelays.standard.index(beforeRetry: retry, atLeast: atLeast) == index)
    }
}
