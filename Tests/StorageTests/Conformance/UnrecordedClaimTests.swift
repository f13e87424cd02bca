import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct UnrecordedClaimTests {
    private func claim(_ id: NotificationID, _ store: any Store) async throws -> DispatchPlan {
        try #require(try await store.claim([id], now: noon)[id])
    }

    private func record(_ plan: DispatchPlan, _ state: DeliveryState, _ store: any Store) async throws {
        try await store.record([
            DispatchOutcome(id: plan.id, attempt: plan.attempt, deliveries: [.sample(.apple, state)], nextTry: noon)
        ])
    }

    @Test(arguments: conformingStores)
    func `Those since the last recorded outcome are counted`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        #expect(try await claim(sent.id, store).unrecordedClaims == 0)
        #expect(try await claim(sent.id, store).unrecordedClaims == 1)
        let third = try await claim(sent.id, store)
        #expect(third.unrecordedClaims == 2)
        try await record(third, .retrying, store)
        #expect(try await claim(sent.id, store).unrecordedClaims == 0)
        // Fenced off, so not recorded.
        try await record(third, .retrying, store)
        #expect(try await claim(sent.id, store).unrecordedClaims == 1)
    }

    @Test(arguments: conformingStores)
    func `Reopening is no claim`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        _ = try await store.reopen([sent.id: []], now: noon)
        #expect(try await claim(sent.id, store).unrecordedClaims == 0)
        _ = try await store.reopen([sent.id: []], now: noon)
        let plan = try await claim(sent.id, store)
        #expect(plan.unrecordedClaims == 1)
        try await record(plan, .dead, store)
        _ = try await store.reopen([sent.id: [.apple]], now: noon)
        #expect(try await claim(sent.id, store).unrecordedClaims == 0)
    }

    @Test(arguments: conformingStores)
    func `What a hub may have taken is kept when the notification is reopened`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        let plan = try await claim(sent.id, store)
        let dead = Delivery(platform: .apple, state: .dead, attempts: 9, unanswered: 2, updatedAt: noon)
        try await store.record([DispatchOutcome(id: sent.id, attempt: plan.attempt, deliveries: [dead])])
        _ = try await store.reopen([sent.id: [.apple]], now: due)
        let pending = Delivery(platform: .apple, state: .pending, unanswered: 2, updatedAt: due)
        #expect(try await claim(sent.id, store).deliveries == [pending])
    }

    @Test(arguments: conformingStores)
    func `A redelivery does not take back a status that was reached`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.sample()
        try await test.store.append([sent])
        let plan = try await claim(sent.id, test.store)
        try await test.store.record([
            DispatchOutcome(id: sent.id, attempt: plan.attempt, deliveries: [.sample(.apple, .sent)])
        ])
        _ = try await claim(sent.id, test.store)
        #expect(try await test.status(of: sent.id) == .dispatched)
    }
}
