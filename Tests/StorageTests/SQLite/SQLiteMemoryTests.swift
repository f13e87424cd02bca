import Domain
import Logging
import Storage
import Testing

struct SQLiteMemoryTests {
    private let logger = Logger(label: "SQLiteMemoryTests") { _ in SwiftLogNoOpLogHandler() }

    @Test
    func `It serves at once, whatever DATABASE_MIGRATE says, and no store has the rows of another`() async throws {
        let configuration = try StorageConfiguration(url: "memory:", migrations: .check)
        let (one, another) = try await (
            openStore(configuration, logger: logger), openStore(configuration, logger: logger)
        )
        let sent = SealedNotification.sample()
        try await one.store.append([sent])
        #expect(try await one.store.find(sent.id, recipient: .alice)?.payload == sent.payload)
        #expect(try await another.store.find(sent.id, recipient: .alice) == nil)
        #expect(one.kind == .memory)
        #expect(await one.readiness() == nil)
    }

    @Test func `Reads and writes at once do not disturb each other`() async throws {
        let store = try openStoreInMemory()
        let sent = SealedNotification.samples(300)
        try await withThrowingTaskGroup { group in
            for one in sent {
                group.addTask {
                    try await store.append([one])
                    #expect(try await store.find(one.id, recipient: .alice)?.payload == one.payload)
                    #expect(try await store.life(of: one.id)?.sender == one.notification.sender)
                    try await store.markRead(one.id, at: noon)
                }
            }
            try await group.waitForAll()
        }
        let states = try await store.states(sent.map(\.id), recipient: .alice)
        #expect(states.count == 300 && states.values.allSatisfy(\.isRead))
    }
}
