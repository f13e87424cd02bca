import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct RevokeTests {
    @Test(arguments: conformingStores)
    func `The payload and the outbox entry are gone, and the time is noted`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        #expect(try await store.revoke(sent[0].id, sender: "tests", now: noon + .seconds(5)))
        let found = try #require(try await store.find(sent[0].id, recipient: .alice))
        #expect(found.isRevoked && found.payload == nil)
        #expect(found.createdAt == noon && found.expiresAt == noon + .seconds(3600))
        #expect(try await store.lease(limit: 9, now: due, until: due).map(\.id) == [sent[1].id])
        #expect(try await store.record(sent[0].id, sender: "tests")?.revokedAt == noon + .seconds(5))
        let other = try #require(try await store.find(sent[1].id, recipient: .alice))
        #expect(!other.isRevoked && other.payload?.bytes == [1, 2, 3])
    }

    @Test(arguments: conformingStores)
    func `Revoking again is true and keeps the first time`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        for second in [5, 1, 9] {
            #expect(try await store.revoke(sent.id, sender: "tests", now: noon + .seconds(second)))
        }
        #expect(try await store.record(sent.id, sender: "tests")?.revokedAt == noon + .seconds(5))
    }

    @Test(arguments: conformingStores)
    func `Another's and an unknown one are false and stay as they are`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample(from: "user:\u{E9}")
        try await store.append([sent])
        for sender in ["user:e\u{301}", "User:\u{E9}", "tests", ""] {
            #expect(try await store.revoke(sent.id, sender: sender, now: noon) == false)
        }
        #expect(try await store.revoke(NotificationID(), sender: "user:\u{E9}", now: noon) == false)
        let found = try #require(try await store.find(sent.id, recipient: .alice))
        #expect(!found.isRevoked && found.payload?.bytes == [1, 2, 3])
        #expect(try await store.backlog(now: due).count == 1)
    }

    @Test(arguments: conformingStores)
    func `A dispatcher that claims it afterwards is told`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        _ = try await store.claim(sent.map(\.id), now: noon)
        _ = try await store.revoke(sent[1].id, sender: "tests", now: noon)
        let plans = try await store.claim(sent.map(\.id), now: noon)
        #expect(plans[sent[0].id]?.isRevoked == false)
        #expect(plans[sent[1].id]?.isRevoked == true && plans[sent[1].id]?.attempt == 2)
    }

    @Test(arguments: conformingStores)
    func `Outcomes and read marks that come late are still kept`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await store.appendClaimed()
        _ = try await store.revoke(sent.id, sender: "tests", now: noon + .seconds(1))
        let deliveries = [Delivery.sample(.apple, .sent)]
        try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: deliveries)])
        try await store.markRead(sent.id, at: noon + .seconds(2))
        let record = try #require(try await store.record(sent.id, sender: "tests"))
        #expect(record.deliveries == deliveries && record.dispatchStatus == .dispatched)
        #expect(record.readAt == noon + .seconds(2) && record.revokedAt == noon + .seconds(1))
    }

    @Test(arguments: conformingStores)
    func `Appending the ID again does not bring the payload back`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        _ = try await store.revoke(sent.id, sender: "tests", now: noon)
        try await store.append([sent])
        let found = try #require(try await store.find(sent.id, recipient: .alice))
        #expect(found.isRevoked && found.payload == nil)
        #expect(try await store.backlog(now: due).count == 0)
    }

    @Test(arguments: conformingStores)
    func `Of many at once the first time is kept, and all are true`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.sample()
        try await store.append([sent])
        try await withThrowingTaskGroup { group in
            for second in 1...30 {
                group.addTask {
                    try await store.revoke(sent.id, sender: "tests", now: noon + .seconds(second))
                }
            }
            for try await isThere in group { #expect(isThere) }
        }
        let revokedAt = try #require(try await store.record(sent.id, sender: "tests")?.revokedAt)
        _ = try await store.revoke(sent.id, sender: "tests", now: noon)
        #expect(try await store.record(sent.id, sender: "tests")?.revokedAt == revokedAt)
    }
}
