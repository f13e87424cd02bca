import Domain
import Foundations
import Storage
import Testing

@Suite(.stores) struct AtomicityTests {
    /// Has the database itself refuse one sender.
    private func refusePoison(_ test: TestStore) async throws {
        if test.kind == .postgres {
            try await test.execute("ALTER TABLE notifications ADD CHECK (sender <> 'poison')")
        } else {
            try await test.execute(
                """
                CREATE TRIGGER refuse BEFORE INSERT ON notifications WHEN NEW.sender = 'poison'
                BEGIN SELECT RAISE(ABORT, 'refused'); END
                """)
        }
    }

    @Test(arguments: conformingStores)
    func `Of a call that fails nothing is stored, and the next call works`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        try await refusePoison(test)
        var sent = SealedNotification.samples(20)
        sent[11].notification.sender = "poison"
        let refused = sent
        let error = await #expect(throws: StorageError.self) { try await test.store.append(refused) }
        #expect(error?.code == .failed)
        #expect(error.map { !"\($0)".contains("poison") } ?? false)
        for one in sent { #expect(try await test.store.find(one.id, recipient: .alice) == nil) }
        #expect(try await test.store.backlog(now: due) == OutboxBacklog(count: 0, oldest: nil))
        try await test.store.append([sent[0]])
        #expect(try await test.store.find(sent[0].id, recipient: .alice) != nil)
    }

    @Test(arguments: conformingStores)
    func `A revoked notification is told as revoked, without its payload`(_ kind: StoreKind) async throws {
        let test = try await kind.openTest()
        let sent = SealedNotification.sample()
        try await test.store.append([sent])
        try await test.execute("UPDATE notifications SET revoked_at = \(noon.milliseconds)")
        try await test.execute("DELETE FROM payloads")
        let found = try #require(try await test.store.find(sent.id, recipient: .alice))
        #expect(found.isRevoked && found.payload == nil)
        #expect(try await test.store.claim([sent.id], now: noon)[sent.id]?.isRevoked == true)
    }
}
