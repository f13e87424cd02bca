import Domain
import Foundations
import Logging
import ServiceConfiguration
import Storage
import TestSupport
import Testing

@testable import Hub

@Suite struct MessageLogTests {
    private func message(_ id: String, bytes: Int) -> HubMessage {
        HubMessage(
            id: id, hub: "hub", state: HubMessage.completed, enqueuedAt: .now, body: Array(repeating: 0, count: bytes),
            purgeAt: .now + .seconds(60))
    }

    @Test func `What is lost, because too much waits for the database, is logged`() async throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let tables = try await openHubTables(StorageConfiguration(url: "memory:"), logger: logger).tables
        let lines = LogLines()
        let log = MessageLog(tables, isVolatile: false, logger: Logger(label: "test") { _ in lines })
        // The first one fills what may wait, and is written a moment later.
        log.put(message("a", bytes: 64 << 20))
        log.put(message("b", bytes: 1))
        #expect(lines.all == ["warning Results of messages are lost, because too many wait for the database"])
        await log.finish()
        #expect(try await log.message("b", hub: "hub") == nil)
        #expect(try await log.message("a", hub: "hub")?.body.count == 64 << 20)
        log.put(message("c", bytes: 1))
        await log.finish()
        #expect(try await log.message("c", hub: "hub") != nil)
        #expect(lines.all.count == 1)
    }
}
