import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct ReadMarkTests {
    @Test(arguments: conformingStores, [false, true])
    func `The first reading is kept, and an unknown ID is ignored`(_ kind: StoreKind, byCallback: Bool) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        for (id, second) in [(sent[0].id, 5), (sent[0].id, 1), (NotificationID(), 2), (sent[0].id, 9)] {
            if byCallback {
                try await store.markReadByCallback(id, at: noon + .seconds(second))
            } else {
                try await store.markRead(id, at: noon + .seconds(second))
            }
        }
        #expect(try await store.find(sent[0].id, recipient: .alice)?.readAt == noon + .seconds(5))
        #expect(try await store.find(sent[1].id, recipient: .alice)?.readAt == nil)
    }

    @Test(arguments: conformingStores)
    func `Of many at once one wins, and only its own notification is marked`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = SealedNotification.samples(2)
        try await store.append(sent)
        try await withThrowingTaskGroup { group in
            for second in 1...50 {
                group.addTask { try await store.markRead(sent[0].id, at: noon + .seconds(second)) }
            }
            try await group.waitForAll()
        }
        let readAt = try #require(try await store.find(sent[0].id, recipient: .alice)?.readAt)
        #expect((1...50).map { noon + .seconds($0) }.contains(readAt))
        try await store.markRead(sent[0].id, at: noon)
        #expect(try await store.find(sent[0].id, recipient: .alice)?.readAt == readAt)
        #expect(try await store.find(sent[1].id, recipient: .alice)?.readAt == nil)
    }

    @Test(arguments: conformingStores)
    func `A reading by callback withdraws the push that asked for it`(_ kind: StoreKind) async throws {
        let store = try await kind.open()
        let sent = try await store.appendClaimed()
        var delivery = Delivery.sample(.apple, .sent)
        delivery.isWithdrawnOnRead = true
        try await store.record([DispatchOutcome(id: sent.id, attempt: 1, deliveries: [delivery])])
        try await store.markReadByCallback(sent.id, at: noon)
        let leased = try await store.leaseFollowUps(limit: 9, now: noon)
        #expect(leased.map(\.id) == [sent.id])
    }
}
