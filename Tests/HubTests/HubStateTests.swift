import Foundation
import Logging
import Testing

@testable import Hub

@Suite struct HubStateTests {
    @Test func `Hubs and installations come back with their registrations' IDs`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "emulator-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "state.sqlite").path()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let journal = StateJournal(file: try StateFile(path: path, logger: logger))
        let hubs = HubDirectory(names: ["first"], endpointHost: "h", journal: journal)
        _ = try hubs.create(
            "Second", try HubDescription(entry: Array(HubDescriptionTests.entry("<Novel>1</Novel>").utf8)))
        let full = try HubInstallation(id: "inst-1", document: Array(TestInstallation.full.utf8))
        let other = try HubInstallation(id: "i2", document: Array(#"{"platform":"apns","pushChannel":"AB"}"#.utf8))
        for key in ["first", "second"] {
            _ = try hubs.withHub(key) { hub throws(HubError) in try hub.put(full) }
            _ = try hubs.withHub(key) { hub throws(HubError) in try hub.put(other) }
            _ = try hubs.withHub(key) { hub throws(HubError) in try hub.removeInstallation("i2") }
        }
        journal.close()
        let kept = try StateFile(path: path, logger: logger)
        #expect(try kept.changes(.hub).count == 1)
        #expect(try kept.changes(.installation).count == 2)

        let again = HubDirectory(names: ["first"], endpointHost: "h")
        try again.restoreHubs(kept.changes(.hub))
        try again.restoreInstallations(kept.changes(.installation))
        kept.close()
        let restored = try #require(again.hub("second"))
        #expect(restored.name == "Second")
        #expect(restored.description.fields.contains { $0.name == "Novel" })
        #expect(restored.description.rules.map(\.primaryKey) == hubs.hub("second")?.description.rules.map(\.primaryKey))
        for key in ["first", "second"] {
            let before = try hubs.withHub(key) { hub throws(HubError) in hub.installations["inst-1"]?.registrationIDs }
            let after = try again.withHub(key) { hub throws(HubError) in hub.installations["inst-1"]?.registrationIDs }
            #expect(before == after)
            #expect(after?.count == 4)
            let found = try again.withHub(key) { hub throws(HubError) in hub.installations["inst-1"]?.installation }
            #expect(found == full)
        }
    }
}
