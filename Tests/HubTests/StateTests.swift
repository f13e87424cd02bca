import Domain
import Foundation
import Foundations
import HTTPTypes
import HummingbirdTesting
import ServiceRuntime
import Storage
import Testing

@testable import Hub

/// The file of `EMULATOR_STATE`.
@Suite struct StateTests {
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
                for tags in ["old", "username:alice"] {
                    _ = try await emulator.call(
                        .put, "/hub/registrations/own", headers: TestEntry.headers,
                        body: TestEntry.apple("dd", tags: tags))
                }
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
                #expect(try await emulator.deliverSchedules(at: time) == 1)
                let record = try #require(try await emulator.records("?Limit=1").first)
                #expect(record["Kind"] as? String == "scheduled")
                #expect(record["Deliveries"] as? [String] == ["AA"])
                #expect((record["Headers"] as? [String: String])?["apns-priority"] == "5")
            }
            try await withEmulator(stateFile: file) { emulator in
                let count = try await emulator.state.store.tables.scheduleCount()
                #expect(count == 0)
            }
        }
    }

    @Test func `Installations survive with their registrations' IDs`() async throws {
        try await withFile { file in
            let body = #"{"installationId":"I1","platform":"fcmV1","pushChannel":"f1","tags":["vip"]}"#
            try await withEmulator(stateFile: file) { emulator in
                let stored = try await emulator.call(.put, "/hub/installations/I1", body: body)
                #expect(stored.status == .ok)
                _ = try await emulator.call(
                    .put, "/hub/installations/i2", body: body.replacing("I1", with: "i2").replacing("f1", with: "f2"))
                _ = try await emulator.call(.delete, "/hub/installations/i2")
            }
            try await withEmulator(stateFile: file) { emulator in
                let before = try await emulator.call(.get, "/hub/registrations").text
                let read = try await emulator.call(.get, "/hub/installations/i1")
                #expect(read.status == .ok)
                #expect(read.text.contains(#""installationId":"I1""#))
                #expect(try await emulator.call(.get, "/hub/installations/i2").status == .notFound)
                _ = try await emulator.send("{}", format: "fcmv1", tags: "$InstallationId:{i1} && vip")
                #expect(try await emulator.records("?Limit=1").first?["Deliveries"] as? [String] == ["f1"])
                // The push made the simulated device known again.
                #expect(emulator.state.devices.knows("f1"))
                #expect(!emulator.state.devices.knows("f2"))
                _ = try await emulator.call(.put, "/hub/installations/i1", body: body)
                let after = try await emulator.call(.get, "/hub/registrations").text
                let id = before.between("<RegistrationId>", "</RegistrationId>")
                #expect(id != nil && after.between("<RegistrationId>", "</RegistrationId>") == id)
            }
        }
    }

    @Test func `A database that is gone is a 503, and the hub works again when it is back`() async throws {
        try await withFile { file in
            try await withEmulator(stateFile: file) { emulator in
                try await emulator.register("aa", tags: "t")
                let away = "\(file).away"
                try FileManager.default.moveItem(atPath: file, toPath: away)
                let requests: [(HTTPRequest.Method, String, String?)] = [
                    (.post, "/hub/registrations", TestEntry.apple("bb")), (.get, "/hub/registrations/1", nil),
                    (.get, "/hub/registrations", nil),
                    (.put, "/hub/installations/i1", #"{"platform":"gcm","pushChannel":"g"}"#),
                    (.put, "/new?api-version=2020-06", HubDescriptionTests.entry()),
                ]
                for (method, path, body) in requests {
                    let answer = try await emulator.call(method, path, headers: TestEntry.headers, body: body)
                    #expect(answer.status == .serviceUnavailable, "\(method) \(path)")
                    #expect(answer.headers[.retryAfter] == "1")
                    #expect(answer.text.hasPrefix("<Error><Code>503</Code>"), "\(answer.text)")
                }
                #expect(try await emulator.send(tags: "t").status == .serviceUnavailable)
                try FileManager.default.moveItem(atPath: away, toPath: file)
                #expect(try await emulator.send(tags: "t").status == .created)
                // The hub that could not be stored was not made.
                let made = try await emulator.call(.put, "/new", body: HubDescriptionTests.entry())
                #expect(made.status == .created)
            }
        }
    }

    /// Registrations and bodies are in it.
    @Test func `Only the owner reads the file`() async throws {
        try await withFile { file in
            try await withEmulator(stateFile: file) { emulator in
                try await emulator.register("aa", tags: "t")
                for path in [file, file + "-wal", file + "-shm"] {
                    let attributes = try FileManager.default.attributesOfItem(atPath: path)
                    #expect(attributes[.posixPermissions] as? Int == 0o600, "\(path)")
                }
            }
        }
    }

    @Test func `A file of another program is refused and left alone`() async throws {
        try await withFile { file in
            let folder = URL(filePath: file).deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let text = Data(String(repeating: "no database ", count: 100).utf8)
            try text.write(to: URL(filePath: file))
            let refused = await #expect(throws: StorageError.self) { try await withEmulator(stateFile: file) { _ in } }
            #expect(refused?.code == .invalid)
            #expect(try Data(contentsOf: URL(filePath: file)) == text)
        }
    }

    @Test func `Damaged schedules are left out`() {
        let send = ScheduledSend(
            id: "1", hub: "H", format: .apple, tags: "t", headers: [.accept: "a b", HubHeaders.tags: "ä"],
            body: [0, 255], dueAt: Timestamp(milliseconds: 7))
        var stored = send.stored
        #expect(stored.hub == "h")
        let again = ScheduledSend(stored)
        #expect(again?.hub == "H" && again?.body == [0, 255] && again?.headers == send.headers && again?.tags == "t")
        for damaged in ["", "{}", String(decoding: stored.request, as: UTF8.self).replacing("apple", with: "smoke")] {
            stored.request = Array(damaged.utf8)
            #expect(ScheduledSend(stored) == nil)
        }
    }
}
