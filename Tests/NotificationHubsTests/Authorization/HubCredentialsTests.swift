import Domain
import Foundation
import Foundations
import Logging
import Synchronization
import TestSupport
import Testing

@testable import NotificationHubs

/// A connection string in a file that changes while the service runs.
@Suite struct HubCredentialsTests {
    private let path = FileManager.default.temporaryDirectory
        .appending(path: "hub-\(UUID().uuidString)").path(percentEncoded: false)

    private func write(rule: String, port: Int, host: String = "127.0.0.1") throws {
        try "Endpoint=http://\(host):\(port)/;SharedAccessKeyName=\(rule);SharedAccessKey=secret-\(rule)=\n"
            .write(toFile: path, atomically: true, encoding: .utf8)
    }

    private func configuration() throws -> NotificationHubConfiguration {
        var configuration = try NotificationHubConfiguration(
            connectionString: try String(contentsOfFile: path, encoding: .utf8), hubName: "hub")
        configuration.connectionStringFile = path
        return configuration
    }

    @Test func `A sender goes on with the corrected file`() async throws {
        let script: FakeHub.Script = { request in
            let isGood = request.header("Authorization")?.hasSuffix("&skn=Good") ?? false
            return [isGood ? FakeHub.created() : FakeHub.answer("401 Unauthorized")]
        }
        try await withFakeHub(script) { hub in
            try write(rule: "Bad", port: hub.port)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let sender = HubSender(
                configuration: try configuration(), concurrency: 1, logger: Logger(label: "test"))
            try await withService(sender) { _ in
                #expect(await sender.send(.sample) == .unauthorized(reason: "HTTP 401"))
                #expect(await sender.send(.sample) == .unauthorized(reason: "HTTP 401"))
                try write(rule: "Good", port: hub.port)
                try await expectEventually { await sender.send(.sample).isSent }
                // The refusal that finds the new file is the only one after the change.
                let names = hub.requests.map { $0.header("Authorization")?.hasSuffix("&skn=Good") ?? false }
                #expect(names == [false, false, false, true] || names == [false, false, true])
            }
        }
    }

    /// What SIGHUP does: the very next request is signed with the new key, before the look that each second brings.
    @Test func `Reloading reads the file at once`() async throws {
        try await withFakeHub({ _ in [FakeHub.created()] }) { hub in
            try write(rule: "Old", port: hub.port)
            defer { try? FileManager.default.removeItem(atPath: path) }
            let sender = HubSender(
                configuration: try configuration(), concurrency: 1, logger: Logger(label: "test"))
            try await withService(sender) { _ in
                #expect(await sender.send(.sample).isSent)
                try write(rule: "New", port: hub.port)
                try await sender.source?.reload()
                #expect(await sender.send(.sample).isSent)
                let rules = hub.requests.map { $0.header("Authorization")?.split(separator: "&skn=").last }
                #expect(rules == ["Old", "New"])
            }
        }
    }

    @Test func `A rotated key is taken before the old one is refused`() throws {
        let now = Mutex(ContinuousClock.now)
        try write(rule: "Old", port: 9)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let credentials = HubCredentials(
            configuration: try configuration(), logger: Logger(label: "test"), now: { now.withLock { $0 } })
        let old = credentials.current
        try write(rule: "New", port: 9)
        #expect(credentials.current === old)
        now.withLock { $0 += .seconds(1) }
        let new = credentials.current
        #expect(new !== old)
        #expect(new.signature.token(expiresAt: 0).hasSuffix("&skn=New"))
        #expect(credentials.current === new)
    }

    @Test(arguments: ["other.example", "nonsense"])
    func `What cannot be used keeps the old one`(_ kind: String) throws {
        try write(rule: "Old", port: 9)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let credentials = HubCredentials(configuration: try configuration(), logger: Logger(label: "test"))
        let old = credentials.current
        if kind == "nonsense" {
            try "nonsense".write(toFile: path, atomically: true, encoding: .utf8)
        } else {
            // Another endpoint: connections are open to the old one.
            try write(rule: "New", port: 10)
        }
        #expect(credentials.refreshed() === old)
    }
}

/// The hub's clock and ours.
@Suite struct ClockOffsetTests {
    private let time = Timestamp(milliseconds: 1_780_000_000_000)

    /// The hub's time less ours in seconds, and the expiry of the next token less our time.
    static let offsets: [(Int64, Int64)] = [
        (0, 3600), (30, 3600), (-59, 3600), (600, 4200), (-600, 3000), (-7200, -3600), (86_400, 90_000),
        (86_401, 3600), (-90_000, 3600),
    ]

    @Test(arguments: offsets)
    func `A refusal tells the hub's time`(_ ahead: Int64, _ expiry: Int64) throws {
        let time = time
        let tokens = SharedAccessTokens(configuration: try localHub(port: 9000)) { time }
        tokens.invalidate(tokens.current.number, hubTime: time + .seconds(ahead))
        #expect(tokens.current.text.contains("&se=\(1_780_000_000 + expiry)&"))
    }

    @Test func `A hub whose clock is ahead costs one refusal`() async throws {
        let date = "Fri, 31 Dec 2038 23:59:59 GMT"
        let hubTime = try #require(Timestamp(httpDate: date))
        // Refuses what has expired by its own clock, as the hub does.
        let script: FakeHub.Script = { request in
            let token = request.header("Authorization") ?? ""
            let expiry = token.split(separator: "&").first { $0.hasPrefix("se=") }.flatMap { Int64($0.dropFirst(3)) }
            let isGood = (expiry ?? 0) > hubTime.seconds
            return [isGood ? FakeHub.created() : FakeHub.answer("401 Unauthorized", "Date: \(date)\r\n")]
        }
        let start = hubTime - .seconds(7200)
        try await withFakeHub(script) { hub in
            let configuration = try localHub(port: hub.port)
            let sender = HubSender(
                configuration: configuration, concurrency: 1, logger: Logger(label: "test"), options: .init(),
                tokens: SharedAccessTokens(configuration: configuration) { start })
            try await withService(sender) { _ in
                #expect(await sender.send(.sample) == .unauthorized(reason: "HTTP 401"))
                #expect(await sender.send(.sample).isSent)
            }
        }
    }
}
