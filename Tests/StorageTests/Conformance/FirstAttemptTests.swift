import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct FirstAttemptTests {
    private func append(_ count: Int, _ store: any Store) async throws -> [SealedNotification] {
        let sent = SealedNotification.samples(count).map { $0.claimingFirst }
        try await store.append(sent)
        return sent
    }

    private func begin(
        _ id: NotificationID, at now: Timestamp = noon, _ store: any Store
    ) async throws -> DispatchPlan? {
        try await store.begin([id], now: now)[id]
    }

    @Test(arguments: conformingStores)
    func `Its plan is read, and nothing changes`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = try await append(1, test.store)[0]
        let plan = DispatchPlan(id: sent.id, recipient: .alice, expiresAt: sent.notification.expiresAt)
        for _ in 0..<2 { #expect(try await begin(sent.id, test.store) == plan) }
        #expect(try await test.status(of: sent.id) == .accepted)
        #expect(try await test.store.begin([], now: noon).plans.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `Its plan is that of a claim`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        var sent = SealedNotification.sample(traceparent: "00-aa-bb-01", remind: [.seconds(60)]).claimingFirst
        sent.notification.presentation = .alert
        sent.notification.alert = AlertText(title: "t", body: "b")
        sent.notification.platforms = [.apple, .fcmv1]
        sent.notification.collapseKey = "c"
        sent.notification.priority = .high
        sent.notification.expiryBoundsPush = true
        try await store.append([sent])
        let plan = try #require(try await begin(sent.id, store))
        #expect(plan.remind == [.seconds(60)] && plan.collapseKey == "c")
        #expect(try await store.claim([sent.id], first: [sent.id], now: noon)[sent.id] == plan)
    }

    @Test(arguments: conformingStores)
    func `Every way of storing claims it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let once = SealedNotification.sample().claimingFirst
        let reminded = SealedNotification.sample(remind: [.seconds(60)]).claimingFirst
        let plain = SealedNotification.sample()
        _ = try await store.append([once, plain], once: .sample(of: [once, plain]), now: noon)
        // A repeat of the whole request changes nothing.
        _ = try await store.append([once, plain], once: .sample(of: [once, plain]), now: noon)
        _ = try await store.append([reminded], once: .sample("key-2", of: [reminded]), now: noon)
        let group = SealedNotification.sample(remind: [.seconds(60)]).claimingFirst
        try await store.append([group, .sample()])
        try await store.append([group])
        let asked = [once, reminded, plain, group]
        let plans = try await store.begin(asked.map(\.id), now: noon).plans
        #expect(Set(plans.keys) == [once.id, reminded.id, group.id])
        #expect(plans.values.allSatisfy { $0.attempt == 1 && $0.unrecordedClaims == 0 })
        #expect(try await store.claim([plain.id], now: noon)[plain.id]?.attempt == 1)
    }

    @Test(arguments: conformingStores)
    func `It is open until somebody claims, enters, records, revokes or removes it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let ids = try await append(6, store).map(\.id)
        _ = try await store.claim([ids[0]], now: noon)
        try await store.enter([ids[1]], now: noon)
        let retrying = [Delivery.sample(.apple, .retrying)]
        let outcome = DispatchOutcome(id: ids[2], attempt: 1, deliveries: retrying, nextTry: due)
        #expect(try await store.record([outcome]).isEmpty)
        _ = try await store.revoke(ids[3], sender: "tests", now: noon)
        try await store.abandon([ids[4]])
        let plans = try await store.begin(ids + [NotificationID()], now: noon).plans
        #expect(Array(plans.keys) == [ids[5]])
    }

    @Test(arguments: conformingStores)
    func `An outcome ends it like any other attempt`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let id = try await append(1, test.store)[0].id
        let sent = DispatchOutcome(id: id, attempt: 1, deliveries: [.sample(.apple, .sent)])
        #expect(try await test.store.record([sent]).isEmpty)
        #expect(try await test.status(of: id) == .dispatched)
        #expect(try await test.store.lease(limit: 9, now: due, until: due).isEmpty)
        let plan = try #require(try await test.store.claim([id], first: [id], now: noon)[id])
        #expect(plan.attempt == 2 && plan.unrecordedClaims == 0)
    }

    @Test(arguments: conformingStores)
    func `A later claim counts it as without an outcome, and fences it off`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await append(1, store)[0].id
        _ = try await begin(id, store)
        let plan = try #require(try await store.claim([id], now: noon)[id])
        #expect(plan.attempt == 2 && plan.unrecordedClaims == 1)
        #expect(try await begin(id, store) == nil)
        let late = DispatchOutcome(id: id, attempt: 1, deliveries: [.sample(.apple, .sent)])
        #expect(try await store.record([late]) == [id])
        let own = DispatchOutcome(id: id, attempt: 2, deliveries: [.sample(.apple, .sent)])
        #expect(try await store.record([own]).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `Claimed by its owner, it keeps its number once`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let ids = try await append(2, test.store).map(\.id)
        let first = try await test.store.claim(ids, first: [ids[0]], now: noon).plans
        #expect(first[ids[0]]?.attempt == 1 && first[ids[0]]?.unrecordedClaims == 0)
        #expect(first[ids[1]]?.attempt == 2 && first[ids[1]]?.unrecordedClaims == 1)
        #expect(try await test.status(of: ids[0]) == .queued)
        let again = try await test.store.claim(ids, first: Set(ids), now: noon).plans
        #expect(again[ids[0]]?.attempt == 2 && again[ids[0]]?.unrecordedClaims == 1)
        #expect(again[ids[1]]?.attempt == 3 && again[ids[1]]?.unrecordedClaims == 2)
    }

    @Test(arguments: conformingStores)
    func `It does not begin shortly before the outbox could publish it again`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await append(1, store)[0].id
        let last = noon + OutboxPolicy.grace - OutboxPolicy.notice
        #expect(try await begin(id, at: last - .milliseconds(1), store) != nil)
        #expect(try await begin(id, at: last, store) == nil)
        try await store.confirm([id], until: due)
        #expect(try await begin(id, at: last, store) != nil)
        #expect(try await begin(id, at: due - OutboxPolicy.notice - .milliseconds(1), store) != nil)
        #expect(try await begin(id, at: due - OutboxPolicy.notice, store) == nil)
    }

    @Test(arguments: conformingStores)
    func `Work that was entered keeps the sweep away, as a claim does`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let ids = try await append(2, test.store).map(\.id)
        let time = noon + OutboxPolicy.entry
        try await test.store.enter([ids[0]], now: time)
        // Too late for an attempt that is claimed.
        _ = try await test.store.claim([ids[1]], now: noon)
        try await test.store.enter(ids, now: due)
        #expect(try await test.status(of: ids[0]) == .queued)
        let far = due + .seconds(86_400)
        let swept = noon + .seconds(10)
        #expect(try await test.store.lease(limit: 9, now: swept, until: far).isEmpty)
        let end = time + OutboxPolicy.attemptLimit
        let lease = try await test.store.leasePublished(limit: 9, due: end, now: end, until: far)
        #expect(lease.entries.map(\.id).sorted() == ids.sorted())
        let sent = DispatchOutcome(id: ids[0], attempt: 1, deliveries: [.sample(.apple, .sent)])
        #expect(try await test.store.record([sent]).isEmpty)
    }

    @Test(arguments: conformingStores)
    func `The sweep gives notice, and then publishes it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await append(2, store)
        let plain = SealedNotification.sample()
        try await store.append([plain])
        let swept = sent[1].notification.createdAt + OutboxPolicy.grace
        let far = due + .seconds(86_400)
        #expect(try await store.lease(limit: 9, now: swept, until: far).map(\.id) == [plain.id])
        let again = swept + OutboxPolicy.notice
        #expect(try await store.lease(limit: 9, now: again - .milliseconds(1), until: far).isEmpty)
        // Entered in the time of the notice.
        try await store.enter([sent[0].id], now: again)
        #expect(try await store.lease(limit: 9, now: again, until: far).map(\.id) == [sent[1].id])
        #expect(try await store.backlog(now: again).count == 2)
    }

    @Test(arguments: conformingStores)
    func `What the broker has lost gets the same notice`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await append(1, store)[0].id
        try await store.confirm([id], until: due)
        let far = due + .seconds(86_400)
        let lease = try await store.leasePublished(limit: 9, due: due, now: due, until: far)
        #expect(lease == PublishedLease(examined: 1))
        let again = due + OutboxPolicy.notice
        #expect(try await store.lease(limit: 9, now: again - .milliseconds(1), until: far).isEmpty)
        #expect(try await store.lease(limit: 9, now: again, until: far).map(\.id) == [id])
        let plan = try #require(try await store.claim([id], now: again)[id])
        #expect(plan.attempt == 2 && plan.unrecordedClaims == 1)
    }

    @Test(arguments: conformingStores)
    func `A reopened notification has no first attempt any more`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let id = try await append(1, store)[0].id
        _ = try await store.reopen([id: []], now: noon)
        #expect(try await begin(id, store) == nil)
        let plan = try #require(try await store.claim([id], first: [id], now: noon)[id])
        #expect(plan.attempt == 3 && plan.unrecordedClaims == 1)
    }

    @Test(arguments: conformingStores)
    func `A row that cannot be read is reported, and the others begin`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let ids = try await append(2, test.store).map(\.id)
        try await test.execute(
            "UPDATE notifications SET presentation = 9 WHERE created_at = \(noon.milliseconds)")
        let claims = try await test.store.begin(ids, now: noon)
        #expect(Array(claims.plans.keys) == [ids[1]] && Array(claims.unreadable.keys) == [ids[0]])
    }
}

extension SealedNotification {
    /// The same with the first attempt claimed.
    fileprivate var claimingFirst: SealedNotification {
        var sealed = self
        sealed.claimsFirstAttempt = true
        return sealed
    }
}
