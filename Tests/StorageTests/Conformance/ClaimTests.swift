import Domain
import Storage
import Testing

@Suite(.stores) struct ClaimTests {
    @Test(arguments: conformingStores)
    func `A plan carries everything that was appended`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        var sent = SealedNotification.sample()
        sent.notification.presentation = .alert
        sent.notification.alert = AlertText(title: "Title \u{1F514} 'q'", body: nil)
        sent.notification.platforms = [.windows, .apple, Platform(rawValue: "browser")]
        sent.notification.collapseKey = "key,with;marks"
        sent.notification.priority = .normal
        sent.notification.traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        try await store.append([sent])
        let plan = try await store.claim([sent.id], now: noon)[sent.id]
        let expected = DispatchPlan(
            id: sent.id, recipient: .alice, presentation: .alert, alert: sent.notification.alert,
            platforms: sent.notification.platforms, expiresAt: sent.notification.expiresAt,
            collapseKey: "key,with;marks", priority: .normal, traceparent: sent.notification.traceparent)
        #expect(plan == expected)
    }

    @Test(arguments: conformingStores)
    func `What was left out stays out`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        let plan = try await store.claim([sent.id], now: noon)[sent.id]
        #expect(plan == DispatchPlan(id: sent.id, recipient: .alice, expiresAt: sent.notification.expiresAt))
    }

    @Test(arguments: conformingStores)
    func `No platform is not every platform`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        var sent = SealedNotification.sample()
        sent.notification.platforms = []
        try await store.append([sent])
        let plan = try #require(try await store.claim([sent.id], now: noon)[sent.id])
        #expect(plan.platforms == [])
    }

    @Test(arguments: conformingStores)
    func `Each claim counts the attempt up`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        for attempt in 1...3 {
            #expect(try await store.claim([sent[0].id], now: noon)[sent[0].id]?.attempt == attempt)
        }
        #expect(try await store.claim([sent[1].id], now: noon)[sent[1].id]?.attempt == 1)
    }

    @Test(arguments: conformingStores)
    func `Unknown IDs are absent, and doubled ones are there once`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        let plans = try await store.claim([NotificationID(), sent.id, sent.id], now: noon).plans
        #expect(Array(plans.keys) == [sent.id])
        #expect(plans[sent.id]?.attempt == 1)
        #expect(try await store.claim([NotificationID()], now: noon).plans.isEmpty)
    }

    @Test(arguments: conformingStores)
    func `Concurrent claims never share an attempt`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(10)
        try await store.append(sent)
        let attempts = try await withThrowingTaskGroup { group in
            for turn in 0..<20 {
                let ids = sent.map(\.id)
                group.addTask {
                    try await store.claim(turn.isMultiple(of: 2) ? ids : ids.reversed(), now: noon)[ids[3]]?.attempt
                }
            }
            return try await group.reduce(into: []) { $0.append($1 ?? 0) }
        }
        #expect(attempts.sorted() == Array(1...20))
    }
}
