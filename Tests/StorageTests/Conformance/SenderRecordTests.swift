import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct SenderRecordTests {
    @Test(arguments: conformingStores)
    func `All of it but the payload`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample(
            to: .bob, expiresAt: noon + .seconds(77), notBefore: noon + .seconds(7))
        try await store.append([sent])
        let fresh = NotificationRecord(
            id: sent.id, recipient: .bob, createdAt: noon, expiresAt: noon + .seconds(77),
            notBefore: noon + .seconds(7), dispatchStatus: .accepted)
        #expect(try await store.record(sent.id, sender: "tests") == fresh)

        _ = try await store.claim([sent.id], now: noon + .seconds(7))
        let deliveries = [
            Delivery(
                platform: .windows, state: .sent, attempts: 2, hubMessageID: "m-1",
                updatedAt: noon + .seconds(1)),
            Delivery(platform: .apple, state: .dead, attempts: 5, error: "401 \"q\"", updatedAt: noon),
        ]
        try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: deliveries)])
        try await store.markRead(sent.id, at: noon + .seconds(20))
        _ = try await store.revoke(sent.id, sender: "tests", now: noon + .seconds(30))
        let later = NotificationRecord(
            id: sent.id, recipient: .bob, createdAt: noon, expiresAt: noon + .seconds(77),
            notBefore: noon + .seconds(7), dispatchStatus: .partial, deliveries: deliveries,
            readAt: noon + .seconds(20), revokedAt: noon + .seconds(30))
        #expect(try await store.record(sent.id, sender: "tests") == later)
    }

    @Test(arguments: conformingStores)
    func `The platforms that were asked for, alone and in a page`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        var sent = SealedNotification.sample()
        sent.notification.platforms = [.windows, .apple]
        try await store.append([sent])
        #expect(try await store.record(sent.id, sender: "tests")?.platforms == [.windows, .apple])
        let page = try await store.page(NotificationQuery(sender: "tests"), now: noon)
        #expect(page.records.first?.platforms == [.windows, .apple])
    }

    @Test(arguments: conformingStores)
    func `A claimed one is queued, with what earlier attempts did`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await store.appendClaimed()
        #expect(try await store.record(sent.id, sender: "tests")?.dispatchStatus == .queued)
        let tried = [Delivery.sample(.apple, .retrying)]
        try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: tried)])
        _ = try await store.claim([sent.id], now: noon)
        let record = try await store.record(sent.id, sender: "tests")
        #expect(record?.dispatchStatus == .queued && record?.deliveries == tried)
    }

    @Test(arguments: conformingStores)
    func `Another's and an unknown one are both not there`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample(from: "user:\u{E9}")
        try await store.append([sent])
        #expect(try await store.record(sent.id, sender: "user:\u{E9}") != nil)
        for sender in ["user:e\u{301}", "USER:\u{E9}", "user:\u{E9} ", "tests", ""] {
            #expect(try await store.record(sent.id, sender: sender) == nil)
        }
        #expect(try await store.record(NotificationID(), sender: "user:\u{E9}") == nil)
    }
}
