import Domain
import Foundation
import NIOHTTP1
import StackKit
import Synchronization
import TestSupport
import Testing

/// What a test runs services with: a broker, a database, a hub and the files of keys.
final class Stack: Sendable {
    let folder: URL
    let hub: HubStub
    let broker: RabbitMQServer
    let databaseURL: String
    private let secrets = StackSecrets(sender: "clinic")
    private let processes = Mutex<[ProcessUnderTest]>([])

    fileprivate init(folder: URL, hub: HubStub, broker: RabbitMQServer, databaseURL: String) throws {
        self.folder = folder
        self.hub = hub
        self.broker = broker
        self.databaseURL = databaseURL
        try secrets.write(to: folder)
    }

    /// The settings of every service; each takes those that it knows.
    var environment: [String: String] {
        [
            "DATABASE_URL": databaseURL, "AMQP_URL": broker.url, "HTTP_PORT": "0", "LOG_FORMAT": "json",
            "LOG_LEVEL": "trace", "HUB_CONNECTION_STRING": hub.connectionString, "HUB_NAME": "hub",
        ].merging(StackSecrets.settings) { $1 }
    }

    /// Starts a service and waits until it listens.
    ///
    /// - Parameter descriptors: how many files and sockets it may have open; `nil`: as many as the tests.
    func start(
        _ name: String, _ more: [String: String] = [:], descriptors: Int? = nil
    ) async throws -> RunningService {
        let process = try ProcessUnderTest(
            name, environment: environment.merging(more) { _, new in new }, folder: folder, descriptors: descriptors)
        processes.withLock { $0.append(process) }
        return RunningService(process: process, port: try await process.port())
    }

    /// Starts the hub emulator, which prints its connection string.
    func startEmulator() async throws -> (RunningService, connection: String) {
        let emulator = try await start("hub-emulator")
        #expect(try await eventually { emulator.process.standardOutput.contains("\n") })
        let line = emulator.process.standardOutput.split(separator: "\n").first
        return (emulator, String(try #require(line)))
    }

    /// The records of notifications as ingest shows them to their sender.
    func records(of ids: [NotificationID], _ ingest: RunningService) async throws -> [String] {
        var records: [String] = []
        for id in ids {
            records.append(try await ingest.request(.GET, "/api/notifications/\(id)/status", bearer: apiKey).body)
        }
        return records
    }

    func areDispatched(_ ids: [NotificationID], _ ingest: RunningService) async throws -> Bool {
        try await records(of: ids, ingest).allSatisfy { $0.contains(#""Status":"dispatched""#) }
    }

    /// What all services have written.
    var logs: String { processes.withLock { $0 }.map { $0.standardError + $0.standardOutput }.joined() }

    fileprivate func end() { for process in processes.withLock({ $0 }) { process.kill() } }

    /// The sender's key.
    var apiKey: String { secrets.apiKey }

    func token(of user: String, validFor seconds: Int64 = 86_400) -> String {
        secrets.token(of: user, validFor: seconds)
    }

    /// Starts a program that does not listen, such as `securepush device`, with this environment and no other.
    func run(_ name: String, _ arguments: [String], _ environment: [String: String]) throws -> ProcessUnderTest {
        let process = try ProcessUnderTest(name, arguments, environment: environment, folder: folder)
        processes.withLock { $0.append(process) }
        return process
    }
}

/// Which database a test's services use.
enum TestDatabase: CaseIterable, Sendable {
    case sqlite, postgres
}

/// Runs a test with a stack around the suite's broker; ends the services that it has left running.
///
/// - Parameter databaseURL: a database of the test's own, in place of `database`.
func withStack(
    _ database: TestDatabase = .sqlite, databaseURL: String? = nil, hubLatency: Duration = .zero,
    _ body: (Stack) async throws -> Void
) async throws {
    let broker = try #require(BrokerTrait.server)
    let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-e2e-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func run(_ databaseURL: String) async throws {
        try await withHubStub(latency: hubLatency) { hub in
            let stack = try Stack(folder: folder, hub: hub, broker: broker, databaseURL: databaseURL)
            defer { stack.end() }
            try await body(stack)
        }
    }
    if let databaseURL { return try await run(databaseURL) }
    switch database {
    case .sqlite: try await run("sqlite:\(folder.path)/data/securepush.sqlite")
    case .postgres: try await withPostgresDatabase(run)
    }
}
