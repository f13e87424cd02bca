import Domain
import Foundations
import Storage
import Testing

/// Stored pushes, the results of messages, and feedback.
@Suite(.stores) struct HubPushTests {
    private static let apple = HubLaneKey(hub: "hub", platform: "apple")
    private static let browser = HubLaneKey(hub: "hub", platform: "browser")

    private func push(
        _ lane: HubLaneKey = apple, due: Duration = .zero, giveUp: Duration = .seconds(1800), claim: Int64? = nil,
        message: String = "m"
    ) -> HubPush {
        HubPush(
            id: NotificationID(), lane: lane, messageID: message, dueAt: noon + due, claim: claim, attempt: 1,
            giveUpAt: noon + giveUp, request: [1, 2], body: [0, 255])
    }

    private func message(
        _ id: String = "m", _ outcomes: [HubOutcome] = [], state: String = HubMessage.completed
    ) -> HubMessage {
        HubMessage(
            id: id, hub: "hub", state: state, enqueuedAt: noon, completedAt: noon, tags: "a || b", outcomes: outcomes,
            body: [0, 1, 255], purgeAt: noon + .seconds(60))
    }

    private func unknown(_ count: Int, _ platform: String = "apple") -> HubOutcome {
        HubOutcome(platform: platform, name: HubMessage.unknown, count: count)
    }

    private func claim(
        _ tables: HubTables, _ lane: HubLaneKey = apple, limit: Int = 10, claim: Int64 = 7, at time: Duration = .zero
    ) async throws -> [HubPush] {
        try await tables.claimPushes(
            of: lane, limit: limit, claim: claim, now: noon + time, until: noon + time + .seconds(30))
    }

    @Test(arguments: hubStores)
    func `A push is claimed by one, and again when the claim is over`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let (first, second) = (push(due: .seconds(1)), push(due: .seconds(2)))
        try await tables.keep([second, first, push(Self.browser, due: .seconds(9))], of: message())
        #expect(
            try await tables.nextPushes() == [Self.apple: noon + .seconds(1), Self.browser: noon + .seconds(9)])
        #expect(try await claim(tables).isEmpty)
        let claimed = try await claim(tables, limit: 1, at: .seconds(5))
        var expected = first
        (expected.dueAt, expected.claim) = (noon + .seconds(35), 7)
        #expect(claimed == [expected])
        #expect(try await claim(tables, claim: 8, at: .seconds(5)).map(\.id) == [second.id])
        #expect(try await claim(tables, claim: 9, at: .seconds(34)).isEmpty)
        #expect(try await claim(tables, claim: 9, at: .seconds(35)).map(\.id).count == 2)
        #expect(try await tables.waitingPushes(of: Self.apple) == 2)
        #expect(try await tables.waitingPushes(of: HubLaneKey(hub: "other", platform: "apple")) == 0)
    }

    @Test(arguments: hubStores)
    func `Claims of many at once never overlap`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let pushes = (0..<60).map { push(due: .milliseconds($0)) }
        try await tables.keep(pushes, of: message())
        let claimed = try await withThrowingTaskGroup(of: [HubPush].self) { tasks in
            for number in 1...12 {
                tasks.addTask { try await claim(tables, limit: 5, claim: Int64(number), at: .seconds(1)) }
            }
            return try await tasks.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(claimed.map(\.id)).count == claimed.count)
        #expect(Set(claimed.map(\.id)).isSubset(of: Set(pushes.map(\.id))))
    }

    @Test(arguments: hubStores)
    func `An end removes the push and is counted once`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let pushes = [push(due: .zero), push(due: .seconds(1)), push(Self.browser, due: .zero)]
        let success = HubOutcome(platform: "apple", name: "Success", count: 3)
        try await tables.keep(pushes, of: message("m", [success, unknown(2), unknown(1, "browser")]))
        var stored = try #require(try await tables.message("m", hub: "hub"))
        #expect(stored.state == HubMessage.processing && stored.completedAt == nil)
        #expect(stored.tags == "a || b" && stored.body == [0, 1, 255])
        #expect(try await tables.message("m", hub: "other") == nil)
        let claimed = try await claim(tables, at: .seconds(1))
        let end = HubPushEnd(claimed[0], claim: 7, .outcome("Success"))
        for _ in 0..<2 { try await tables.end([end], now: noon + .seconds(2)) }
        stored = try #require(try await tables.message("m", hub: "hub"))
        #expect(
            Set(stored.outcomes)
                == [HubOutcome(platform: "apple", name: "Success", count: 4), unknown(1), unknown(1, "browser")])
        try await tables.end(
            [
                HubPushEnd(claimed[1], claim: 7, .outcome("ExpiredChannel")),
                HubPushEnd(pushes[2], claim: 1, .outcome("AbandonedNotification")),
            ], now: noon + .seconds(3))
        stored = try #require(try await tables.message("m", hub: "hub"))
        #expect(stored.state == HubMessage.completed && stored.completedAt == noon + .seconds(3))
        #expect(
            Set(stored.outcomes) == [
                HubOutcome(platform: "apple", name: "Success", count: 4),
                HubOutcome(platform: "apple", name: "ExpiredChannel", count: 1),
                HubOutcome(platform: "browser", name: "AbandonedNotification", count: 1),
            ])
        #expect(try await tables.nextPushes().isEmpty)
    }

    @Test(arguments: hubStores)
    func `Only the one with the claim plans the next try`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let one = push()
        try await tables.keep([one], of: message("m", [unknown(1)]))
        _ = try await claim(tables, claim: 7)
        _ = try await claim(tables, claim: 8, at: .seconds(30))
        try await tables.end([HubPushEnd(one, claim: 7, .retry(at: noon, attempt: 9))], now: noon)
        #expect(try await tables.nextPushes() == [Self.apple: noon + .seconds(60)])
        try await tables.end(
            [HubPushEnd(one, claim: 8, .retry(at: noon + .seconds(5), attempt: 2))], now: noon)
        #expect(try await tables.nextPushes() == [Self.apple: noon + .seconds(5)])
        #expect(try await claim(tables, at: .seconds(5)).map(\.attempt) == [2])
        // An end of one that lost its claim counts: the push service has answered.
        try await tables.end([HubPushEnd(one, claim: 8, .outcome("Success"))], now: noon)
        #expect(try await tables.nextPushes().isEmpty)
    }

    @Test(arguments: hubStores)
    func `Pushes whose time is over are found in every lane, but not while they are pushed`(
        _ kind: StoreKind
    ) async throws {
        let tables = try await kind.openHub()
        let over = [
            push(due: .seconds(900), giveUp: .seconds(10)), push(Self.browser, due: .zero, giveUp: .seconds(11)),
            push(due: .seconds(30), giveUp: .seconds(12), claim: 5),
        ]
        try await tables.keep(over + [push()], of: message())
        let now = noon + .seconds(20)
        let found = try await tables.claimPushesToGiveUp(limit: 9, claim: 1, now: now, until: now + .seconds(30))
        #expect(found.map(\.id) == [over[0].id, over[1].id])
        let later = noon + .seconds(30)
        let rest = try await tables.claimPushesToGiveUp(limit: 9, claim: 2, now: later, until: later + .seconds(30))
        #expect(rest.map(\.id) == [over[2].id])
    }

    @Test(arguments: hubStores)
    func `Further pages of a message are added to it`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        let success = HubOutcome(platform: "apple", name: "Success", count: 1)
        try await tables.keep([push()], of: message("m", [success, unknown(1)]))
        try await tables.keep([push(), push()], of: message("m", [success, unknown(2)]))
        try await tables.keep([], of: message("m", [HubOutcome(platform: "apple", name: "Skipped", count: 1)]))
        let stored = try #require(try await tables.message("m", hub: "hub"))
        #expect(
            Set(stored.outcomes) == [
                HubOutcome(platform: "apple", name: "Success", count: 2), unknown(3),
                HubOutcome(platform: "apple", name: "Skipped", count: 1),
            ])
        #expect(stored.state == HubMessage.processing)
        // A message without stored pushes is replaced.
        try await tables.keep([message("m", [success]), message("n")])
        #expect(try await tables.message("m", hub: "hub")?.outcomes == [success])
        // Of two states in one group the newer one counts.
        var (later, full) = (message("m", [success]), message("o", [success]))
        later.state = "Cancelled"
        (full.completedAt, full.tags, full.body) = (noon, "a && b", [0, 255])
        try await tables.keep([full, message("m"), later])
        #expect(try await tables.message("m", hub: "hub") == later)
        #expect(try await tables.message("o", hub: "hub") == full)
        try await tables.keep([])
        try await tables.change("n", hub: "hub", state: "Cancelled", at: noon + .seconds(1))
        #expect(try await tables.message("n", hub: "hub")?.state == "Cancelled")
    }

    @Test(arguments: hubStores)
    func `A dead device is removed and noted at once`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.put(.sample("a", handle: "H"))
        try await tables.install("i1", [""], handle: "H", updatedAt: noon + .seconds(5))
        var note = HubFeedbackRow(
            hub: "hub", notedAt: noon, error: "ExpiredChannel", platform: "apple", handle: "H", registrationID: "a",
            messageID: "m")
        #expect(try await tables.bury(note, ifUpdatedBefore: noon + .seconds(1)) == 1)
        #expect(try await tables.registration("a", hub: "hub") == nil)
        #expect(try await tables.installation("i1", hub: "hub", now: noon) != nil)
        #expect(try await tables.feedback(hub: "hub") == [note])
        // A device that came back meanwhile is not reported: others would remove it.
        #expect(try await tables.bury(note, ifUpdatedBefore: noon + .seconds(1)) == 0)
        #expect(try await tables.feedback(hub: "hub").count == 1)
        // A handle without a registration, of a direct send.
        (note.handle, note.registrationID) = ("X", nil)
        #expect(try await tables.bury(note, ifUpdatedBefore: noon) == 0)
        try await tables.note([note])
        #expect(try await tables.feedback(hub: "hub").map(\.handle) == ["H", "X", "X"])
        #expect(try await tables.feedback(hub: "other").isEmpty)
    }

    @Test(arguments: hubStores)
    func `What is old is purged, and what belongs to a deleted hub`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        var late = message("late")
        late.purgeAt = noon + .seconds(120)
        try await tables.keep([message("m"), late])
        let note = HubFeedbackRow(
            hub: "hub", notedAt: noon, error: "BadChannel", platform: "apple", handle: "H", messageID: "m")
        try await tables.note([note])
        #expect(try await !tables.purgeDeliveries(now: noon + .seconds(60), feedbackBefore: noon))
        #expect(try await tables.message("m", hub: "hub") == nil)
        #expect(try await tables.message("late", hub: "hub") != nil)
        #expect(try await tables.feedback(hub: "hub") == [note])
        #expect(try await !tables.purgeDeliveries(now: noon, feedbackBefore: noon + .milliseconds(1)))
        #expect(try await tables.feedback(hub: "hub").isEmpty)
        try await tables.note([note])
        let other = HubLaneKey(hub: "hub-2", platform: "apple")
        try await tables.keep([push(), push(Self.browser), push(other)], of: message())
        try await tables.removeDeliveries(hub: "hub")
        #expect(try await tables.nextPushes().keys.map(\.hub) == ["hub-2"])
        #expect(try await tables.feedback(hub: "hub").isEmpty)
    }

    @Test(arguments: hubStores)
    func `A wrong address stays while the removals of its lane are suspended`(_ kind: StoreKind) async throws {
        let tables = try await kind.openHub()
        try await tables.put(.sample("a", handle: "H"))
        let note = HubFeedbackRow(
            hub: "hub", notedAt: noon, error: "BadChannel", platform: "apple", handle: "H", registrationID: "a",
            messageID: "m")
        for _ in 0..<2 { try await tables.suspendRemovals(of: Self.apple, now: noon) }
        try await tables.suspendRemovals(of: HubLaneKey(hub: "hub-2", platform: "apple"), now: noon)
        #expect(try await tables.suspendedLanes().count == 2)
        let later = noon + .seconds(1)
        #expect(try await tables.buryUnlessSuspended(note, ifUpdatedBefore: later) == nil)
        #expect(try await tables.feedback(hub: "hub").isEmpty)
        try await tables.resumeRemovals(of: Self.apple)
        #expect(try await tables.buryUnlessSuspended(note, ifUpdatedBefore: later) == 1)
        try await tables.removeDeliveries(hub: "hub-2")
        #expect(try await tables.suspendedLanes().isEmpty)
    }

    @Test func `Outcomes that cannot be read do not keep a push that is over`() async throws {
        let url = try await StoreKind.postgres.freshURL()
        let tables = try await StoreKind.runHub(url)
        let one = push()
        try await tables.keep([one], of: message("m", [unknown(1)]))
        _ = try await PostgresTestDatabase.psql(
            url, "UPDATE hub_messages SET outcomes = E'apple x y z\\napple Unknown 1'")
        _ = try await claim(tables)
        try await tables.end([HubPushEnd(one, claim: 7, .outcome("Success"))], now: noon)
        #expect(try await tables.nextPushes().isEmpty)
        let stored = try #require(try await tables.message("m", hub: "hub"))
        #expect(stored.outcomes == [HubOutcome(platform: "apple", name: "Success", count: 1)])
    }
}
