import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct OutcomeTests {
    private static func delivery(
        _ platform: Platform = .apple, _ state: DeliveryState = .sent, message: String? = "m", outcome: String? = nil
    ) -> Delivery {
        Delivery(
            platform: platform, state: state, attempts: 1, hubMessageID: message, updatedAt: noon, outcome: outcome)
    }

    /// A page from a time on, in seconds after noon.
    private static func page(
        _ store: any Store, _ order: OutcomePass.Order = .accepted, from: Int = -1, until: Int = 3600, limit: Int = 100
    ) async throws -> OutcomePage {
        try await store.awaitingOutcome(
            OutcomeQuery(
                order: order, after: OutcomeCursor(before: noon + .seconds(from)), before: noon + .seconds(until),
                limit: limit))
    }

    /// The notifications of all pages up to the end.
    private static func allPages(_ store: any Store, limit: Int) async throws -> [NotificationID] {
        var query = OutcomeQuery(
            order: .accepted, after: OutcomeCursor(before: noon), before: noon + .seconds(3600), limit: limit)
        var ids: [NotificationID] = []
        // More pages than the tests store notifications.
        for _ in 0..<10 {
            let page = try await store.awaitingOutcome(query)
            ids += page.entries.map(\.id)
            if page.isEnd { return ids }
            query.after = page.next
        }
        Issue.record("The pages do not end")
        return ids
    }

    /// Stores notifications a second apart, each with its deliveries, as their first attempts leave them.
    private static func push(
        _ deliveries: [[Delivery]], in store: any Store, notBefore: [Timestamp?] = []
    ) async throws -> [SealedNotification] {
        let sent = deliveries.indices.map { index in
            let time = noon + .seconds(index)
            return SealedNotification.sample(
                NotificationID(at: time), createdAt: time, expiresAt: time + .seconds(1_000_000),
                notBefore: index < notBefore.count ? notBefore[index] : nil)
        }
        try await store.append(sent)
        // When the last of them is due.
        _ = try await store.claim(sent.map(\.id), now: notBefore.compactMap { $0 }.max() ?? noon)
        try await store.record(
            zip(sent, deliveries).map { DispatchOutcome(id: $0.id, attempt: 1, deliveries: $1) })
        return sent
    }

    @Test(arguments: conformingStores)
    func `An outcome stays with its delivery`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let deliveries = [Self.delivery(), Self.delivery(.windows, message: "w")]
        let sent = try await Self.push([deliveries], in: test.store)[0]
        let entry = try #require(try await Self.page(test.store).entries.first)
        #expect(entry.id == sent.id && entry.attempt == 1 && entry.recipient == .alice)
        #expect(entry.deliveries == deliveries)
        var told = entry.deliveries
        told[0].outcome = "Success"
        try await test.store.recordOutcomes([DeliveryOutcomes(id: sent.id, attempt: 1, deliveries: told)])
        #expect(try await Self.page(test.store).entries.map(\.deliveries) == [told])
        told[1].outcome = "Success=2, BadChannel=1"
        try await test.store.recordOutcomes([DeliveryOutcomes(id: sent.id, attempt: 1, deliveries: told)])
        #expect(try await Self.page(test.store).entries.isEmpty)
        #expect(try await test.store.record(sent.id, sender: "tests")?.deliveries == told)
        #expect(try await test.status(of: sent.id) == .dispatched)
        // A repeated message of the broker claims it again and stores what it has read.
        let plan = try #require(try await test.store.claim([sent.id], now: noon)[sent.id])
        #expect(plan.deliveries == told && plan.unrecordedClaims == 0)
    }

    @Test(arguments: conformingStores)
    func `Only sent messages with an ID and without an outcome are found`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await Self.push(
            [
                [Self.delivery(message: nil)], [Self.delivery(.apple, .dead), Self.delivery(.windows, .skipped)],
                [Self.delivery(outcome: "Success")], [], [Self.delivery(), Self.delivery(.windows, .retrying)],
                [Self.delivery(.apple, .dead), Self.delivery(.windows, message: "\"n\":\"s\":\"sent\"")],
                [Self.delivery(message: nil, outcome: nil), Self.delivery(.apple, .dead, message: "x")],
            ], in: store)
        let untried = SealedNotification.sample()
        try await store.append([untried])
        #expect(try await Self.page(store).entries.map(\.id) == [sent[5].id])
    }

    @Test(arguments: conformingStores)
    func `Pages go on where the one before ended`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await Self.push([[Delivery]](repeating: [Self.delivery()], count: 7), in: store)
        var after = OutcomeCursor(before: noon)
        var ids: [NotificationID] = []
        for expected in [3, 3, 0] {
            let query = OutcomeQuery(order: .accepted, after: after, before: noon + .seconds(6), limit: 3)
            let page = try await store.awaitingOutcome(query)
            #expect(page.entries.count == expected && page.isEnd == (expected == 0))
            ids += page.entries.map(\.id)
            after = page.next
        }
        #expect(ids == sent.prefix(6).map(\.id) && after == OutcomeCursor(before: noon + .seconds(6)))
        let rest = try await Self.page(store, from: 6)
        #expect(rest.entries.map(\.id) == [sent[6].id] && rest.isEnd)
    }

    /// The first two have both texts that the databases search for, each in another delivery.
    @Test(arguments: conformingStores)
    func `Rows that await nothing do not end the reading`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let none = [Self.delivery(message: nil), Self.delivery(.windows, .dead, message: "x")]
        let told = [Self.delivery(outcome: "Success"), Self.delivery(.fcmv1, message: nil)]
        let sent = try await Self.push([none, told, [Self.delivery()], none, [Self.delivery()]], in: store)
        #expect(try await Self.allPages(store, limit: 1) == [sent[2].id, sent[4].id])
        #expect(try await Self.allPages(store, limit: 2) == [sent[2].id, sent[4].id])
    }

    @Test(arguments: conformingStores)
    func `A page examines a bounded number of rows`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let many = (0...OutcomePolicy.maxScan).map { index in
            SealedNotification.sample(NotificationID(at: noon + .milliseconds(index)))
        }
        try await store.append(many)
        _ = try await store.claim([many[OutcomePolicy.maxScan].id], now: noon)
        try await store.record([
            DispatchOutcome(id: many[OutcomePolicy.maxScan].id, attempt: 1, deliveries: [Self.delivery()])
        ])
        let first = try await Self.page(store)
        #expect(first.entries.isEmpty && !first.isEnd && first.next.id == many[OutcomePolicy.maxScan - 1].id)
        let query = OutcomeQuery(order: .accepted, after: first.next, before: noon + .seconds(60), limit: 5)
        let second = try await store.awaitingOutcome(query)
        #expect(second.entries.map(\.id) == [many[OutcomePolicy.maxScan].id] && second.isEnd)
    }

    @Test(arguments: conformingStores)
    func `Scheduled notifications are found by their time`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let day = noon + .seconds(86_400)
        let sent = try await Self.push(
            [[Delivery]](repeating: [Self.delivery()], count: 4), in: store, notBefore: [day, nil, day, noon])
        let same = [sent[0].id, sent[2].id].sorted()
        var query = OutcomeQuery(
            order: .scheduled, after: OutcomeCursor(before: day), before: day + .seconds(1), limit: 1)
        var found: [OutcomeCursor] = []
        for _ in 0..<2 {
            let page = try await store.awaitingOutcome(query)
            found += page.entries.map(\.cursor)
            query.after = page.next
        }
        #expect(found == same.map { OutcomeCursor(time: day, id: $0) })
        let end = try await store.awaitingOutcome(query)
        #expect(end.isEnd)
        query = OutcomeQuery(order: .scheduled, after: OutcomeCursor(before: noon), before: day, limit: 9)
        let rest = try await store.awaitingOutcome(query)
        #expect(rest.entries.map(\.id) == [sent[3].id])
    }

    @Test(arguments: conformingStores)
    func `A later claim fences an outcome off`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let dead = [Self.delivery(), Self.delivery(.windows, .dead, message: nil)]
        let sent = try await Self.push([dead, dead], in: store)
        let entries = try await Self.page(store).entries
        #expect(entries.count == 2)
        // The first is sent again where it failed, the second is claimed by a repeated message.
        let resent = try await store.resend(sent[0].id, sender: "tests", now: noon)
        #expect(resent == .owed([.windows]))
        let plan = try #require(try await store.claim([sent[1].id], now: noon)[sent[1].id])
        try await store.recordOutcomes(
            entries.map { entry in
                var deliveries = entry.deliveries
                deliveries[0].outcome = "Success"
                return DeliveryOutcomes(id: entry.id, attempt: entry.attempt, deliveries: deliveries)
            })
        try await store.recordOutcomes([DeliveryOutcomes(id: NotificationID(), attempt: 1, deliveries: [])])
        #expect(plan.attempt == 2)
        for one in sent {
            let record = try await store.record(one.id, sender: "tests")
            #expect(record?.deliveries.map(\.outcome) == [nil, nil])
        }
    }

    @Test(arguments: conformingStores)
    func `Sending again begins without an outcome`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await Self.push(
            [[Self.delivery(outcome: "Success"), Self.delivery(.windows, .dead, outcome: "Dropped")]], in: store)[0]
        _ = try await store.resend(sent.id, sender: "tests", now: noon)
        let plan = try #require(try await store.claim([sent.id], now: noon)[sent.id])
        #expect(plan.deliveries.map(\.outcome) == ["Success", nil])
    }

    @Test(arguments: conformingStores)
    func `One process has the lease, until it ends`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let (one, two): (Int64, Int64) = (1, Int64.max)
        let end = noon + .seconds(60)
        let cursors = OutcomePass.all.indices.map { index in
            OutcomeCursor(time: noon + .seconds(index), id: NotificationID(at: noon))
        }
        let first = try await store.leaseOutcomes(holder: one, now: noon, until: end)
        let refused = try await store.leaseOutcomes(holder: two, now: noon, until: end)
        #expect(first == [] && refused == nil)
        let isForeign = try await store.saveOutcomes(holder: two, cursors: [], until: end)
        let isSaved = try await store.saveOutcomes(holder: one, cursors: cursors, until: end + .seconds(1))
        #expect(!isForeign && isSaved)
        let renewed = try await store.leaseOutcomes(holder: one, now: noon, until: end)
        let taken = try await store.leaseOutcomes(holder: two, now: end, until: end + .seconds(60))
        #expect(renewed == cursors && taken == cursors)
        let isLate = try await store.saveOutcomes(holder: one, cursors: [], until: end)
        let isGivenBack = try await store.saveOutcomes(holder: two, cursors: [], until: Timestamp(milliseconds: 0))
        #expect(!isLate && isGivenBack)
        let again = try await store.leaseOutcomes(holder: one, now: noon, until: end)
        #expect(again == [])
    }

    @Test(arguments: conformingStores)
    func `Of many processes one gets the lease`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let leased = try await withThrowingTaskGroup(of: Bool.self) { group in
            for holder in 1...20 {
                group.addTask {
                    let end = noon + .seconds(60)
                    return try await store.leaseOutcomes(holder: Int64(holder), now: noon, until: end) != nil
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(leased == 1)
    }

    @Test(arguments: conformingStores)
    func `Places that cannot be read begin anew, and a damaged row is passed over`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = try await Self.push([[Self.delivery()], [Self.delivery()]], in: test.store)
        for text in ["x", ",,,", "1:2:3", "-1:\(sent[0].id)", "99999999999999999999:\(sent[0].id)"] {
            try await test.execute("UPDATE outcome_watch SET cursors = '\(text)'")
            let cursors = try await test.store.leaseOutcomes(holder: 1, now: noon, until: noon)
            #expect(cursors == [], "\(text)")
        }
        try await test.execute(
            "UPDATE notifications SET deliveries = '{\"s\":\"sent\",\"n\":1,\"m\":' "
                + "WHERE id = (SELECT id FROM notifications ORDER BY id LIMIT 1)")
        let page = try await Self.page(test.store)
        #expect(page.entries.map(\.id) == [sent[1].id] && page.isEnd)
        #expect(try await Self.allPages(test.store, limit: 1) == [sent[1].id])
    }
}
