import Domain
import Foundation
import Foundations
import Logging
import Testing

@testable import NotificationHubs

/// The questions to several hubs.
@Suite struct HubPoolTelemetryTests {
    /// Answers as two hubs of one namespace; `hub-b` refuses.
    private static let script: FakeHub.Script = { request in
        if request.headLines.first?.hasPrefix("GET /Hub-A/messages/") == true {
            return [FakeHub.answer("200 OK", body: "<NotificationDetails><State>Completed</State>")]
        }
        return [FakeHub.answer("403 No")]
    }

    /// Runs with a pool of the two hubs.
    private func withPool(_ body: @escaping @Sendable (HubDevicesPool) async throws -> Void) async throws {
        try await withFakeHub(Self.script) { hub in
            let connection = "Endpoint=http://127.0.0.1:\(hub.port)/;SharedAccessKeyName=Rule;SharedAccessKey=a2V5"
            let path = FileManager.default.temporaryDirectory.appending(path: "hubs-\(UUID().uuidString)").path
            try Data("hub-b \(connection)\nHub-A \(connection)\n".utf8).write(to: URL(filePath: path))
            defer { try? FileManager.default.removeItem(atPath: path) }
            let file = try HubPoolFile(HubPoolSettings(path: path), logger: Logger(label: "test"))
            let pool = HubDevicesPool(file: file, logger: Logger(label: "test"))
            try await withService(pool) { _ in try await body(pool) }
        }
    }

    @Test func `The hub that answers is the one that is named`() async throws {
        try await withPool { pool in
            #expect(pool.hubNames == ["hub-a", "hub-b"])
            var asked: Set<String> = []
            for number in 0..<20 {
                let user = try #require(UserName("user-\(number)"))
                let outcome = try? await pool.outcome(ofMessage: "m", to: user)
                #expect(pool.hubName(for: user) == (outcome == nil ? "hub-b" : "hub-a"))
                asked.insert(pool.hubName(for: user))
            }
            // Of 20 users each hub has some: the hash is the same everywhere.
            #expect(asked == ["hub-a", "hub-b"])
        }
    }

    /// Otherwise the file of the connection string would be read a second time, by a reader that nobody watches.
    @Test func `Telemetry has the tokens of the sender`() async throws {
        let (configuration, logger) = (try localHub(port: 1), Logger(label: "test"))
        let sender = HubSender(configuration: configuration, concurrency: 1, logger: logger)
        let devices = HubDevices(configuration: configuration, sharingTokensOf: sender, logger: logger)
        #expect(devices.tokens === sender.tokens)
        try await devices.shutdown()
    }

    @Test func `One hub has no name`() async throws {
        let devices = HubDevices(configuration: try localHub(port: 1), logger: Logger(label: "test"))
        let alice = try #require(UserName("alice"))
        #expect(devices.hubNames == [""] && devices.hubName(for: alice) == "")
        try await devices.shutdown()
    }
}
