import Synchronization
import Testing

@testable import HubEmulator

@Suite struct HubStateTests {
    /// What a keeper of state would have in the end.
    private final class Kept: Sendable {
        private let values = Mutex<[String: HubChange]>([:])

        func note(_ change: HubChange) {
            values.withLock { $0["\(change.kind) \(change.hubKey) \(change.key)"] = change.value == nil ? nil : change }
        }

        var all: [HubChange] { values.withLock { Array($0.values) } }
    }

    @Test func hubsAndInstallationsComeBackWithTheirRegistrationsIDs() throws {
        let kept = Kept()
        let hubs = HubDirectory(names: ["first"], endpointHost: "h") { kept.note($0) }
        _ = try hubs.create(
            "Second", try HubDescription(entry: Array(HubDescriptionTests.entry("<Novel>1</Novel>").utf8)))
        let full = try HubInstallation(id: "inst-1", document: Array(TestInstallation.full.utf8))
        let other = try HubInstallation(id: "i2", document: Array(#"{"platform":"apns","pushChannel":"AB"}"#.utf8))
        for key in ["first", "second"] {
            _ = try hubs.withHub(key) { hub throws(HubError) in try hub.put(full) }
            _ = try hubs.withHub(key) { hub throws(HubError) in try hub.put(other) }
            _ = try hubs.withHub(key) { hub throws(HubError) in try hub.removeInstallation("i2") }
        }
        #expect(kept.all.count == 3)

        let again = HubDirectory(names: ["first"], endpointHost: "h")
        try again.restore(kept.all)
        #expect(try again.hub("second").name == "Second")
        #expect(try again.hub("second").description.fields.contains { $0.name == "Novel" })
        #expect(
            try again.hub("second").description.rules.map(\.primaryKey)
                == hubs.hub("second").description.rules.map(\.primaryKey))
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
