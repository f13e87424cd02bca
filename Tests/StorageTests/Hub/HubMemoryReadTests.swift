import Domain
import GRDB
import Logging
import Synchronization
import Testing

@testable import Storage

@Suite struct HubMemoryReadTests {
    private func openStore() throws -> SQLiteStore {
        let logger = Logger(label: "HubMemoryReadTests") { _ in SwiftLogNoOpLogHandler() }
        let store = SQLiteStore(try SQLiteDatabase(.hub), logger: logger)
        store.start()
        return store
    }

    @Test func `A read of a database in memory takes no other thread`() throws {
        let found = Mutex<Int?>(nil)
        try openStore().database.read { db in
            try Int.fetchOne(db, sql: "SELECT 7")
        } completion: { result in
            found.withLock { $0 = (try? result.get()) ?? nil }
        }
        #expect(found.withLock { $0 } == 7)
    }

    /// A callback runs on the queue of the connection, which is not free yet.
    @Test func `A callback of a change can read`() async throws {
        let store = try openStore()
        let name = try await withCheckedThrowingContinuation { (caller: CheckedContinuation<String?, any Error>) in
            store.commit { db in
                try db.run("INSERT INTO hub_hubs (hub, name) VALUES ('a', 'A')")
            } then: { _ in
                store.database.read { db in
                    try String.fetchOne(db, sql: "SELECT name FROM hub_hubs")
                } completion: { result in
                    caller.resume(with: result)
                }
            }
        }
        #expect(name == "A")
    }

    @Test func `Reads and changes at the same time see whole changes`() async throws {
        let store = try openStore()
        let tables = HubTables(store)
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<50 {
                group.addTask { try await tables.put(.sample("\(number)", tags: ["t"])) }
                group.addTask { _ = try await tables.ids([["t"]]) }
            }
        }
        #expect(try await tables.ids([["t"]]).count == 50)
    }
}
