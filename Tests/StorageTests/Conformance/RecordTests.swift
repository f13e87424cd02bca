import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct RecordTests {
    @Test(arguments: conformingStores)
    func `The next claim gives back what was recorded`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        _ = try await store.claim(sent.map(\.id), now: noon)
        let deliveries = [Delivery.sample(.windows, .sent), .sample(.apple, .retrying)]
        try await store.record([
            DispatchOutcome(id: sent[0].id, attempt: 1, deliveries: deliveries),
            DispatchOutcome(id: sent[1].id, attempt: 1, deliveries: []),
        ])
        let plans = try await store.claim(sent.map(\.id), now: noon)
        #expect(plans[sent[0].id]?.deliveries == deliveries)
        #expect(plans[sent[1].id]?.deliveries == [])
    }

    @Test(arguments: conformingStores)
    func `Deliveries keep awkward texts`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await store.appendClaimed()
        let texts = [
            "quote \" and ' and \\", "line\nbreak\r\n\ttab", "nul \u{0} bell \u{7}", "e\u{301} \u{E9}", "",
            "\u{1F469}\u{200D}\u{1F4BB} \u{10FFFF} \u{2028}", "[],{}:null", "</script>", "\\u0041", "%s %d $1 ?",
        ]
        let deliveries = texts.enumerated().map { index, text in
            Delivery(
                platform: Platform(rawValue: "p\(index)"), state: DeliveryState.allCases[index % 5],
                attempts: index * 1_000_000, hubMessageID: text,
                error: index == 4 ? nil : text, updatedAt: noon + .milliseconds(index))
        }
        try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: deliveries)])
        let found = try #require(try await store.claim([sent.id], now: noon)[sent.id]?.deliveries)
        #expect(found == deliveries)
        #expect(found.map { Array(($0.error ?? "-").utf8) } == deliveries.map { Array(($0.error ?? "-").utf8) })
    }

    @Test(arguments: conformingStores)
    func `An outcome of an attempt that is no longer the newest is ignored`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = try await test.store.appendClaimed()
        _ = try await test.store.claim([sent.id], now: noon)
        let newest = [Delivery.sample(.apple, .sent)]
        try await test.store.record([DispatchOutcome(id: sent.id, attempt: 2, deliveries: newest)])
        try await test.store.record([
            DispatchOutcome(id: sent.id, attempt: 1, deliveries: [Delivery.sample(.apple, .dead)]),
            DispatchOutcome(id: sent.id, attempt: 3, deliveries: [Delivery.sample(.apple, .dead)]),
            DispatchOutcome(id: NotificationID(), attempt: 1, deliveries: newest),
        ])
        #expect(try await test.status(of: sent.id) == .dispatched)
        #expect(try await test.store.claim([sent.id], now: noon)[sent.id]?.deliveries == newest)
    }

    static let progress: [([DeliveryState], DispatchStatus)] = [
        ([.sent, .skipped], .dispatched), ([.sent, .dead], .partial), ([.dead, .dead], .failed),
        ([.sent, .retrying], .queued), ([.pending], .queued), ([.skipped, .dead], .failed),
    ]

    @Test(arguments: conformingStores, progress)
    func `The status is the sum of the deliveries`(
        _ kind: StoreKind, _ step: ([DeliveryState], DispatchStatus)
    ) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.sample()
        try await test.store.append([sent])
        #expect(try await test.status(of: sent.id) == .accepted)
        _ = try await test.store.claim([sent.id], now: noon)
        #expect(try await test.status(of: sent.id) == .queued)
        let deliveries = zip([Platform.apple, .fcmv1], step.0).map { Delivery.sample($0, $1) }
        try await test.store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: deliveries)])
        #expect(try await test.status(of: sent.id) == step.1)
    }
}
