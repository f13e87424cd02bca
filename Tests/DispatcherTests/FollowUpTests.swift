import Domain
import Foundations
import TestSupport
import Testing

@testable import Dispatcher

@Suite("Withdrawals and reminders")
struct FollowUpTests {
    /// As ingest and retrieval have it: they do not know the dispatcher's setting.
    let bench = DispatchBench()
    var store: any Store { bench.store }

    /// The results of messages.
    private struct Run {
        var gateway: FakeGateway
        var broker: FakeBroker

        var sent: [HubNotification] { gateway.sent }
        var acknowledged: [UInt64] { broker.record.acknowledged.sorted() }
        /// Retries and dead letters.
        var published: Int { broker.record.published.count }
    }

    @Test func `A withdrawal goes to the platforms that accepted the push`() async throws {
        let id = try await pushed([.apple: .sent, .windows: .dead])
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        let run = try await dispatch(DispatchMessage(id: id, kind: .withdrawal))
        #expect(run.sent.map(\.platform) == [.apple])
        #expect(run.sent[0].body.contains(#""withdraw":"1""#) && run.sent[0].body.contains("\(id)"))
        #expect(!run.sent[0].headers.contains { $0.name == "apns-collapse-id" })
        #expect(run.acknowledged == [1] && run.published == 0)
        let record = try #require(try await store.record(id, sender: "clinic"))
        #expect(record.deliveries.map { $0.withdrawnAt != nil } == [true, false])
        // A second copy of the message finds nothing to do.
        #expect(try await dispatch(DispatchMessage(id: id, kind: .withdrawal)).sent.isEmpty)
    }

    @Test(arguments: [WithdrawalMode.off, .revoked, .read])
    func `The dispatcher's own setting is honoured`(_ mode: WithdrawalMode) async throws {
        let id = try await pushed([.apple: .sent])
        try await store.markRead(id, at: .now)
        let run = try await dispatch(DispatchMessage(id: id, kind: .withdrawal), withdrawals: mode)
        #expect(run.sent.count == (mode == .read ? 1 : 0))
        #expect(run.acknowledged == [1])
        // It is done either way.
        #expect(try await store.leaseFollowUps(limit: 9, now: .now + .seconds(86_400)).isEmpty)
    }

    @Test(arguments: WithdrawalMode.allCases)
    func `The read of a push withdraws it if its dispatcher says so`(_ mode: WithdrawalMode) async throws {
        let id = try await stored()
        #expect(try await dispatch(DispatchMessage(id: id), withdrawals: mode).sent.count == 2)
        try await store.markRead(id, at: .now)
        let due = try await store.leaseFollowUps(limit: 9, now: .now)
        #expect(due == (mode == .read ? [OutboxEntry(id: id, kind: .withdrawal)] : []))
        let run = try await dispatch(DispatchMessage(id: id, kind: .withdrawal), withdrawals: mode)
        #expect(run.sent.count == (mode == .read ? 2 : 0))
    }

    @Test(arguments: WithdrawalMode.allCases)
    func `A revocation of a push is withdrawn unless the dispatcher is off`(_ mode: WithdrawalMode) async throws {
        let id = try await stored()
        _ = try await dispatch(DispatchMessage(id: id), withdrawals: mode)
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        #expect(try await store.leaseFollowUps(limit: 9, now: .now).count == 1)
        let run = try await dispatch(DispatchMessage(id: id, kind: .withdrawal), withdrawals: mode)
        #expect(run.sent.count == (mode == .off ? 0 : 2))
        // The row has ended: it is not published again.
        #expect(try await store.leaseFollowUps(limit: 9, now: .now + .seconds(86_400)).isEmpty)
    }

    /// The order, and whether a platform fails at first.
    @Test(arguments: [true, false], [true, false])
    func `A platform gets one withdrawal for a read and a revocation`(_ isReadFirst: Bool, _ isRetried: Bool)
        async throws
    {
        let id = try await pushed([.apple: .sent, .windows: .sent])
        func happen(_ isRead: Bool) async throws {
            if isRead {
                try await store.markRead(id, at: .now)
            } else {
                _ = try await store.revoke(id, sender: "clinic", now: .now)
            }
        }
        try await happen(isReadFirst)
        let failure: [Platform: [SendOutcome]] =
            isRetried ? [.windows: [.unavailable(reason: "503", retryAfter: nil)]] : [:]
        let first = try await dispatch(DispatchMessage(id: id, kind: .withdrawal), answers: failure)
        #expect(first.sent.count == 2)
        try await happen(!isReadFirst)
        let second = try await dispatch(DispatchMessage(id: id, kind: .withdrawal))
        #expect(second.sent.map(\.platform) == (isRetried ? [.windows] : []))
        let third = try await dispatch(DispatchMessage(id: id, kind: .withdrawal))
        #expect(third.sent.isEmpty)
        #expect(try await store.leaseFollowUps(limit: 9, now: .now + .seconds(86_400)).isEmpty)
        let record = try #require(try await store.record(id, sender: "clinic"))
        #expect(record.deliveries.count == 2 && record.deliveries.allSatisfy { $0.withdrawnAt != nil })
    }

    @Test func `Nothing is withdrawn that was not pushed`() async throws {
        let id = try await pushed([.apple: .skipped])
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        let run = try await dispatch(
            DispatchMessage(id: id, kind: .withdrawal), DispatchMessage(id: NotificationID(), kind: .withdrawal))
        #expect(run.sent.isEmpty)
        #expect(run.acknowledged == [1, 2])
    }

    @Test func `A retry is a time in the store`() async throws {
        let id = try await pushed([.apple: .sent, .windows: .sent])
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        let first = try await dispatch(
            DispatchMessage(id: id, kind: .withdrawal),
            answers: [.windows: [.unavailable(reason: "503", retryAfter: nil)]])
        #expect(first.sent.count == 2)
        #expect(first.acknowledged == [1] && first.published == 0)
        let due = try await store.leaseFollowUps(limit: 9, now: .now + .seconds(2))
        #expect(due == [OutboxEntry(id: id, kind: .withdrawal)])
        let second = try await dispatch(DispatchMessage(id: id, kind: .withdrawal))
        #expect(second.sent.map(\.platform) == [.windows])
        let record = try #require(try await store.record(id, sender: "clinic"))
        #expect(record.deliveries.count == 2 && record.deliveries.allSatisfy { $0.withdrawnAt != nil })
    }

    @Test func `It is given up after its attempts without a dead letter`() async throws {
        let id = try await pushed([.apple: .sent])
        _ = try await store.revoke(id, sender: "clinic", now: .now)
        let run = try await dispatch(
            DispatchMessage(id: id, kind: .withdrawal), answers: [.apple: [.rejected(reason: "400", status: 400)]])
        #expect(run.acknowledged == [1] && run.published == 0)
        #expect(try await store.leaseFollowUps(limit: 9, now: .now + .seconds(86_400)).isEmpty)
        #expect(try await store.record(id, sender: "clinic")?.deliveries[0].withdrawnAt == nil)
    }

    @Test func `A push that is accepted starts the reminders`() async throws {
        let id = try await stored(remind: [.seconds(30)])
        let before = Timestamp.now
        #expect(try await dispatch(DispatchMessage(id: id)).sent.count == 2)
        let next = try #require(try await store.record(id, sender: "clinic")?.reminders?.next)
        #expect(next >= before + .seconds(30) && next <= .now + .seconds(30))
    }

    @Test func `A reminder is the push once more`() async throws {
        let id = try await pushed([.apple: .sent, .windows: .dead], remind: [.seconds(30), .seconds(30)])
        try await fallDue(id)
        // Both copies arrive; one of them finds the step used up.
        let run = try await dispatch(
            DispatchMessage(id: id, kind: .reminder), DispatchMessage(id: id, kind: .reminder))
        #expect(run.sent.map(\.platform) == [.apple])
        #expect(run.sent[0].body == #"{"aps":{"content-available":1},"secureId":"\#(id)"}"#)
        #expect(run.acknowledged == [1, 2])
        #expect(try await store.record(id, sender: "clinic")?.reminders?.sent == 1)
    }

    @Test func `A read cancels a reminder that is on its way`() async throws {
        let id = try await pushed([.apple: .sent], remind: [.seconds(30)])
        try await fallDue(id)
        try await store.markRead(id, at: .now)
        let run = try await dispatch(DispatchMessage(id: id, kind: .reminder), withdrawals: .off)
        #expect(run.sent.isEmpty)
        #expect(run.acknowledged == [1])
    }

    @Test(arguments: [
        (SendOutcome.unanswered(reason: "timeout"), false), (.throttled(retryAfter: nil), true),
        (.unavailable(reason: "503", retryAfter: nil), true), (.notSent(reason: "no connection"), true),
        (.unavailable(reason: "504", retryAfter: .seconds(1), isAmbiguous: true), false),
    ])
    func `A reminder is repeated only if the hub certainly did not accept it`(_ answer: SendOutcome, _ isRepeated: Bool)
        async throws
    {
        let id = try await pushed([.apple: .sent], remind: [.seconds(30), .seconds(3600)])
        try await fallDue(id)
        _ = try await dispatch(DispatchMessage(id: id, kind: .reminder), answers: [.apple: [answer]])
        let due = try await store.leaseFollowUps(limit: 9, now: .now + .seconds(700))
        #expect(due.map(\.kind) == (isRepeated ? [.reminder] : []))
        let run = try await dispatch(DispatchMessage(id: id, kind: .reminder))
        #expect(run.sent.count == (isRepeated ? 1 : 0))
        #expect(try await store.record(id, sender: "clinic")?.reminders?.sent == (isRepeated ? 1 : 0))
    }

    @Test func `A push and a follow-up of one notification are no repeats`() {
        let id = NotificationID()
        let keys = [DispatchMessage(id: id), DispatchMessage(id: id, kind: .withdrawal)].map(\.key)
        #expect(keys[0] != keys[1])
        #expect(keys[1] == DispatchMessage(id: id, platforms: [.apple], kind: .withdrawal).key)
    }
}

extension FollowUpTests {
    private func stored(remind: [Duration] = []) async throws -> NotificationID {
        try await bench.stored {
            ($0.sender, $0.expiresAt, $0.remind) = ("clinic", .now + .seconds(86_400), remind)
        }
    }

    /// Stores a notification whose dispatching ended a minute ago.
    private func pushed(
        _ states: KeyValuePairs<Platform, DeliveryState>, remind: [Duration] = []
    ) async throws -> NotificationID {
        let id = try await stored(remind: remind)
        let time = Timestamp.now - .seconds(60)
        let attempt = try #require(try await store.claim([id], now: time)[id]?.attempt)
        let deliveries = states.map {
            Delivery(platform: $0, state: $1, attempts: 1, updatedAt: time, isWithdrawnOnRead: true)
        }
        try await store.record([
            DispatchOutcome(
                id: id, attempt: attempt, deliveries: deliveries, pushedAt: remind.isEmpty ? nil : time)
        ])
        return id
    }

    /// The relay publishes the first reminder.
    private func fallDue(_ id: NotificationID) async throws {
        #expect(try await store.leaseFollowUps(limit: 9, now: .now) == [OutboxEntry(id: id, kind: .reminder)])
    }

    /// Delivers messages and lets a pipeline settle them.
    private func dispatch(
        _ messages: DispatchMessage..., answers: [Platform: [SendOutcome]] = [:], withdrawals: WithdrawalMode = .read
    ) async throws -> Run {
        let (broker, gateway) = (FakeBroker(), FakeGateway(answers))
        try await bench.with {
            $0.broker = broker
            $0.policy = DispatchPolicy(platforms: [.apple, .windows], withdrawals: withdrawals)
        }.dispatch(messages, gateway)
        return Run(gateway: gateway, broker: broker)
    }
}
