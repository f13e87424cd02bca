import Domain
import Foundations
import Storage
import Testing

struct ReadMarkTests {
    @Test(arguments: conformingStores)
    func `The first reading is kept`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            let sent = SealedNotification.sample()
            try await store.append([sent])
            try await store.markRead(sent.id, at: noon + .seconds(5))
            try await store.markRead(sent.id, at: noon + .seconds(1))
            try await store.markRead(sent.id, at: noon + .seconds(9))
            #expect(try await store.find(sent.id, recipient: .alice)?.readAt == noon + .seconds(5))
        }
    }

    @Test(arguments: conformingStores)
    func `An unknown ID is ignored`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
            try await store.markRead(NotificationID(), at: noon)
        }
    }

    @Test(arguments: conformingStores)
    func `Of many at once one wins, and only its own notification is marked`(_ kind: StoreKind) async throws {
        try await withStore(kind) { store in
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
    }
}
