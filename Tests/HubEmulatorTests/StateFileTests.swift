import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import Testing

@testable import HubEmulator

@Suite struct StateFileTests {
    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "emulator-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "deep/state.sqlite").path())
    }

    @Test func registrationsAndSchedulesSurviveARestart() async throws {
        try await withFile { file in
            let time = WireTime(milliseconds: WireTime.now.milliseconds + 3_600_000)
            try await withEmulator(stateFile: file) { emulator in
                try await emulator.register("aa", tags: "username:alice, vip")
                let gone = try await emulator.register("bb", tags: "username:alice")
                try await emulator.register("cc", tags: "username:carol", hub: "Other")
                _ = try await emulator.call(
                    .put, "/hub/registrations/own", headers: TestEntry.headers, body: TestEntry.apple("dd", tags: "old")
                )
                _ = try await emulator.call(
                    .put, "/hub/registrations/own", headers: TestEntry.headers,
                    body: TestEntry.apple("dd", tags: "username:alice"))
                _ = try await emulator.call(.delete, "/hub/registrations/\(gone)", headers: [.ifMatch: "*"])
                _ = try await emulator.call(
                    .post, "/hub/schedulednotifications",
                    headers: [
                        HubHeaders.format: "apple", HubHeaders.tags: "vip", HubHeaders.scheduleTime: time.rfc3339,
                        HubHeaders.name("apns-priority"): "5",
                    ], body: #"{"aps":{}}"#)
            }
            try await withEmulator(stateFile: file) { emulator in
                _ = try await emulator.send(tags: "username:alice")
                #expect(try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] == ["AA", "DD"])
                _ = try await emulator.send(tags: "username:carol", uri: "/other/messages")
                #expect(try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] == ["CC"])
                let read = try await emulator.call(.get, "/hub/registrations/own")
                #expect(read.headers[.eTag] == "W/\"2\"")
                try await emulator.register("ee", tags: "new")
                let list = try await emulator.call(.get, "/hub/registrations").text
                #expect(list.occurrences(of: "<entry ") == 3)
                for send in emulator.state.schedules.takeDue(now: time) { emulator.state.intake.deliver(send) }
                let record = try #require(try await emulator.records("?Limit=1").first)
                #expect(record["Kind"] as? String == "scheduled")
                #expect(record["Deliveries"] as? [String] == ["AA"])
                #expect((record["Headers"] as? [String: String])?["apns-priority"] == "5")
            }
            try await withEmulator(stateFile: file) { emulator in #expect(emulator.state.schedules.count == 0) }
        }
    }

    @Test func installationsSurviveWithTheirRegistrations() async throws {
        try await withFile { file in
            let body = #"{"installationId":"i1","platform":"fcmV1","pushChannel":"f1","tags":["vip"]}"#
            try await withEmulator(stateFile: file) { emulator in
                let stored = try await emulator.call(.put, "/hub/installations/i1", body: body)
                #expect(stored.status == .ok)
                _ = try await emulator.call(
                    .put, "/hub/installations/i2", body: body.replacing("i1", with: "i2").replacing("f1", with: "f2"))
                _ = try await emulator.call(.delete, "/hub/installations/i2")
            }
            try await withEmulator(stateFile: file) { emulator in
                let read = try await emulator.call(.get, "/hub/installations/i1")
                #expect(read.status == .ok)
                #expect(try await emulator.call(.get, "/hub/installations/i2").status == .notFound)
                _ = try await emulator.send("{}", format: "fcmv1", tags: "$InstallationId:{i1} && vip")
                #expect(try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] == ["f1"])
                #expect(emulator.state.devices.knows("f1"))
                #expect(!emulator.state.devices.knows("f2"))
            }
        }
    }

    @Test func otherFilesAreRefusedAndLeftAlone() async throws {
        try await withFile { file in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let url = URL(filePath: file)
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            let text = Data(String(repeating: "no database ", count: 100).utf8)
            try text.write(to: url)
            #expect(throws: StateFile.Refusal.self) { _ = try StateFile(path: file, logger: logger) }
            #expect(try Data(contentsOf: url) == text)
        }
    }

    @Test func damagedEntriesAreLeftOut() {
        #expect(StoredSchedule.decode([]) == nil)
        #expect(StoredSchedule.decode(Array("{}".utf8)) == nil)
        #expect(StoredRegistration.decode(Array("[]".utf8)) == nil)
        #expect(PackedHeaders(packed: [0, 5, 1]) == nil)
        #expect(PackedHeaders(packed: [0, 1, 65]) == nil)
    }
}
