import Domain
import Foundations
import Logging
import StackKit
import TestSupport
import Testing

@testable import Dispatcher

/// The decisions of several dispatchers about the same recipient, at times that the test says.
@Suite struct SilentRoleTests {
    let store = memoryStore()
    private static let interval = Duration.seconds(60)
    private static let noon = Timestamp(milliseconds: 1_795_262_400_123)

    private var budget: SilentBudget {
        SilentBudget(store: store, interval: Self.interval, logger: Logger(label: "test"))
    }

    private func at(_ seconds: Int64) -> Timestamp { Self.noon + .seconds(seconds) }

    private func stored(_ count: Int) async throws -> [NotificationID] {
        let alice = try #require(UserName("alice"))
        let sent = (0..<count).map { _ in
            let notification = Notification(sender: "test", recipient: alice, expiresAt: at(86_400))
            return SealedNotification(notification: notification, payload: SealedPayload(keyID: "k", bytes: [1]))
        }
        try await store.append(sent)
        return sent.map(\.notification.id)
    }

    /// Claims IDs together and asks for their pushes.
    private func claim(
        _ ids: [NotificationID], at seconds: Int64
    ) async throws -> [(attempt: DispatchAttempt, role: SilentRole)] {
        let claims = try await store.claim(ids, now: at(seconds))
        let attempts = try ids.map { id in
            DispatchAttempt(
                delivery: DispatchDelivery(tag: 1, epoch: 1, message: DispatchMessage(id: id)),
                message: DispatchMessage(id: id), plan: try #require(claims[id]), platforms: [.apple])
        }
        let roles = await budget.roles(of: attempts, now: at(seconds))
        return zip(attempts, roles).map { ($0, $1[0]) }
    }

    /// Stores the outcome of an attempt after an answer.
    private func settle(_ attempt: DispatchAttempt, _ answer: LaneAnswer, at seconds: Int64) async throws {
        _ = attempt.complete(0, answer)
        let settlement = attempt.settlement(DispatchPolicy(platforms: [.apple]), now: at(seconds))
        try await store.record([try #require(settlement.outcome)])
    }

    /// Claims one ID, and settles it if its answer is known at once; `nil` if it may be sent.
    private func wait(_ id: NotificationID, at seconds: Int64) async throws -> LaneAnswer? {
        let claimed = try await claim([id], at: seconds)[0]
        guard case .answered(let answer) = claimed.role else { return nil }
        try await settle(claimed.attempt, answer, at: seconds)
        return answer
    }

    private static let accepted = LaneAnswer.answered(.sent(hubMessageID: nil), hold: nil)

    @Test func `Across dispatchers the newest is sent and covers the others`() async throws {
        let ids = try await stored(4)
        let first = try await claim([ids[0]], at: 0)[0]
        try await settle(first.attempt, Self.accepted, at: 0)
        for (index, id) in ids.enumerated().dropFirst() {
            let answer = try await wait(id, at: Int64(index))
            #expect(answer == .waits(SilentWait(until: at(60), sequence: 1)))
        }
        // Two dispatchers share the slot. The one without the newest lets it go first.
        #expect(try await wait(ids[1], at: 60) == .waits(SilentWait(until: at(61), sequence: 1)))
        let pair = try await claim([ids[2], ids[3]], at: 60)
        guard case .follows = pair[0].role, case .leads(let grant, let followers) = pair[1].role else {
            Issue.record("The newest leads, and the other one follows.")
            return
        }
        #expect(grant.sequence == 2 && followers.map(\.attempt.plan.id) == [ids[2]])
        // The push is in flight.
        #expect(try await wait(ids[1], at: 61) == .waits(SilentWait(until: at(62), sequence: 1)))
        try await settle(pair[1].attempt, Self.accepted, at: 62)
        #expect(try await wait(ids[1], at: 62) == .coalesced(into: ids[3]))
        let record = try await store.records([ids[1]])[ids[1]]
        #expect(record?.deliveries.first?.coalescedInto == ids[3] && record?.dispatchStatus == .dispatched)
    }

    @Test func `If the dispatcher of the push dies, nothing is lost`() async throws {
        let ids = try await stored(3)
        _ = try await claim([ids[0]], at: 0)
        #expect(try await wait(ids[1], at: 1) == .waits(SilentWait(until: at(60), sequence: 1)))
        // It is granted, and the dispatcher dies before it stores anything.
        _ = try await claim([ids[2]], at: 60)
        #expect(try await wait(ids[1], at: 61) == .waits(SilentWait(until: at(62), sequence: 1)))
        // After the flight time it counts as lost: both wait for the slot after it, and the newest is sent.
        #expect(try await wait(ids[1], at: 80) == .waits(SilentWait(until: at(120), sequence: 2)))
        #expect(try await wait(ids[2], at: 81) == .waits(SilentWait(until: at(120), sequence: 2)))
        guard case .leads = try await claim([ids[2]], at: 120)[0].role else {
            Issue.record("The notification is still owed, and its push is due.")
            return
        }
    }

    @Test func `A newer one that was revoked delays the others for a while only`() async throws {
        let ids = try await stored(3)
        _ = try await claim([ids[0]], at: 0)
        for id in ids.dropFirst() { _ = try await wait(id, at: 1) }
        _ = try await store.revoke(ids[2], sender: "test", now: at(2))
        #expect(try await wait(ids[1], at: 60) == .waits(SilentWait(until: at(61), sequence: 1)))
        guard case .leads = try await claim([ids[1]], at: 70)[0].role else {
            Issue.record("The newer one does not come.")
            return
        }
    }

    @Test func `An owed platform comes with the retry of another`() throws {
        let plan = DispatchPlan(
            id: NotificationID(), recipient: try #require(UserName("alice")), expiresAt: at(86_400))
        let message = DispatchMessage(id: plan.id)
        let attempt = DispatchAttempt(
            delivery: DispatchDelivery(tag: 1, epoch: 1, message: message), message: message, plan: plan,
            platforms: [.apple, .fcmv1])
        _ = attempt.complete(0, .waits(SilentWait(until: at(60), sequence: 1)))
        _ = attempt.complete(1, .answered(.unavailable(reason: "503", retryAfter: nil), hold: nil))
        let settlement = attempt.settlement(DispatchPolicy(platforms: [.apple, .fcmv1]), now: at(0))
        // One message for both, because two of one notification would fence each other off.
        #expect(settlement.retry?.message.platforms == [.fcmv1, .apple])
        #expect(settlement.outcome?.dueAgain == nil && settlement.outcome?.nextTry != nil)
    }

    @Test func `If the store is away nothing is sent`() async throws {
        let plan = DispatchPlan(
            id: NotificationID(), recipient: try #require(UserName("alice")), expiresAt: at(86_400))
        let message = DispatchMessage(id: plan.id)
        let attempt = DispatchAttempt(
            delivery: DispatchDelivery(tag: 1, epoch: 1, message: message), message: message, plan: plan,
            platforms: [.apple])
        let budget = SilentBudget(store: AwayStore(), interval: Self.interval, logger: Logger(label: "test"))
        guard case .answered(let answer) = await budget.roles(of: [attempt], now: at(0))[0][0] else {
            Issue.record("It must wait.")
            return
        }
        #expect(answer == .waits(SilentWait(until: at(5), sequence: nil)))
    }

    /// A number of pushes that cannot grow any more, for example.
    @Test func `A recipient whose row is refused holds up nobody else`() async throws {
        struct Picky: ForwardingStore {
            let base = memoryStore()
            func admit(
                _ requests: [SilentPushRequest], interval: Duration, now: Timestamp
            ) async throws -> [SilentPushAdmission] {
                if requests.contains(where: { $0.key.recipient.text == "bob" }) {
                    throw StorageError(.failed, "refused by the test")
                }
                return try await base.admit(requests, interval: interval, now: now)
            }
        }
        let attempts = try ["alice", "bob", "carol"].map { name in
            let plan = DispatchPlan(
                id: NotificationID(), recipient: try #require(UserName(name)), expiresAt: at(86_400))
            let message = DispatchMessage(id: plan.id)
            return DispatchAttempt(
                delivery: DispatchDelivery(tag: 1, epoch: 1, message: message), message: message, plan: plan,
                platforms: [.apple])
        }
        let budget = SilentBudget(store: Picky(), interval: Self.interval, logger: Logger(label: "test"))
        let roles = await budget.roles(of: attempts, now: at(0)).map { $0[0] }
        let leads = roles.map { if case .leads = $0 { true } else { false } }
        #expect(leads == [true, false, true])
        guard case .answered(let answer) = roles[1] else {
            Issue.record("It must wait.")
            return
        }
        #expect(answer == .waits(SilentWait(until: at(5), sequence: nil)))
    }
}
