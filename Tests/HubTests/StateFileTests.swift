import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import Logging
import ServiceRuntime
import Testing

@testable import Hub

@Suite struct StateFileTests {
    private func withFile(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "emulator-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "deep/state.sqlite").path())
    }

    @Test func `Registrations and schedules survive a restart`() async throws {
        try await withFile { file in
            let time = Timestamp(milliseconds: Timestamp.now.milliseconds + 3_600_000)
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
                        HubHeaders.format: "apple", HubHeaders.tags: "vip", HubHeaders.scheduleTime: time.description,
                        HTTPField.Name(static: "apns-priority"): "5",
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
                for send in emulator.state.schedules.removeDue(now: time) { emulator.state.sends.deliver(send) }
                let record = try #require(try await emulator.records("?Limit=1").first)
                #expect(record["Kind"] as? String == "scheduled")
                #expect(record["Deliveries"] as? [String] == ["AA"])
                #expect((record["Headers"] as? [String: String])?["apns-priority"] == "5")
            }
            try await withEmulator(stateFile: file) { emulator in #expect(emulator.state.schedules.count == 0) }
        }
    }

    private static func mode(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }

    /// Registrations and bodies are in it.
    @Test func `Only the owner reads the file`() async throws {
        try await withFile { file in
            try await withEmulator(stateFile: file) { emulator in
                try await emulator.register("aa", tags: "t")
                for path in [file, file + "-wal", file + "-shm"] { #expect(Self.mode(path) == 0o600, "\(path)") }
            }
            // One that an earlier version made with the umask.
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            try await withEmulator(stateFile: file) { _ in #expect(Self.mode(file) == 0o600) }
        }
    }

    @Test func `A foreign file keeps its mode`() async throws {
        try await withFile { file in
            let folder = URL(filePath: file).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("no database at all, but long enough for a header of one hundred bytes or so".utf8)
                .write(to: URL(filePath: file))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
            #expect(throws: StateFile.Refusal.self) {
                try StateFile(path: file, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            }
            #expect(Self.mode(file) == 0o644)
        }
    }

    /// Before, IDs were kept in the case they came in.
    @Test func IDsOfAnEarlierVersionAreFoundInAnyCase() async throws {
        try await withFile { file in
            try await withEmulator(stateFile: file) { emulator in
                _ = try await emulator.install(#"{"platform":"apns","pushChannel":"AA"}"#)
            }
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let old = try StateFile(path: file, logger: logger)
            let value = try old.changes(.installation).first?.value
            old.write([
                StateChange(kind: .installation, hub: "hub", key: "inst-1", value: nil),
                StateChange(kind: .installation, hub: "hub", key: "INST-1", value: value),
            ])
            old.close()
            try await withEmulator(stateFile: file) { emulator in
                #expect(try await emulator.call(.get, "/hub/installations/Inst-1").status == .ok)
                _ = try await emulator.call(.delete, "/hub/installations/inst-1")
            }
            try await withEmulator(stateFile: file) { emulator in
                let gone = try await emulator.call(.get, "/hub/installations/inst-1")
                #expect(gone.status == .notFound)
            }
        }
    }

    /// More changes at once than may wait: the next ones wait for the file, and none is lost.
    @Test func `The journal is bounded`() async throws {
        try await withFile { file in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let journal = StateJournal(file: try StateFile(path: file, logger: logger))
            let count = StateJournal.maxWaiting * 2 + 5
            for number in 0..<count {
                journal.put(.registration, hub: "hub", key: "\(number)", value: [1])
                #expect(journal.waitingCount <= StateJournal.maxWaiting)
            }
            journal.close()
            let again = try StateFile(path: file, logger: logger)
            #expect(try again.changes(.registration).count == count)
            again.close()
        }
    }

    @Test func `Installations survive with their registrations`() async throws {
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

    @Test func `Other files are refused and left alone`() async throws {
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

    @Test func `Damaged entries are left out`() {
        #expect(StoredSchedule.decode([]) == nil)
        #expect(StoredSchedule.decode(Array("{}".utf8)) == nil)
        #expect(StoredRegistration.decode(Array("[]".utf8)) == nil)
        #expect(HTTPFields(packed: [0, 5, 1]) == nil)
        #expect(HTTPFields(packed: [0, 1, 65]) == nil)
    }
}
