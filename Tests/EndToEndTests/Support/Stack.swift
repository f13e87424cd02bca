import AsyncHTTPClient
import Crypto
import Foundation
import NIOCore
import SecurePushCore
import Synchronization
import TestSupport
import Testing

/// What a test runs services with: a broker, a database, a hub and the files of keys.
final class Stack: Sendable {
    let folder: URL
    let hub: HubStub
    let broker: RabbitMQServer
    let databaseURL: String
    /// The sender's key, which is in no file: there is its hash.
    let apiKey = "spk_" + UUID().uuidString
    private let tokenSecret = Data((0..<32).map { _ in UInt8.random(in: .min ... .max) })
    private let processes = Mutex<[ProcessUnderTest]>([])

    fileprivate init(folder: URL, hub: HubStub, broker: RabbitMQServer, databaseURL: String) throws {
        self.folder = folder
        self.hub = hub
        self.broker = broker
        self.databaseURL = databaseURL
        try write("payload-keys", PayloadKeyRing.newLine())
        try write("api-keys", "clinic " + SHA256.hash(data: Data(apiKey.utf8)).hex)
        try write("jwks.json", #"{"keys":[{"kty":"oct","alg":"HS256","k":"\#(tokenSecret.base64URL)"}]}"#)
    }

    /// The settings of every service; each takes those that it knows.
    var environment: [String: String] {
        [
            "DATABASE_URL": databaseURL, "AMQP_URL": broker.url, "HTTP_PORT": "0", "LOG_FORMAT": "json",
            "LOG_LEVEL": "trace", "PAYLOAD_KEYS_FILE": "payload-keys", "INGEST_API_KEYS_FILE": "api-keys",
            "AUTH_JWKS_FILE": "jwks.json", "HUB_CONNECTION_STRING": hub.connectionString, "HUB_NAME": "hub",
        ]
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

    /// What all services have written.
    var logs: String { processes.withLock { $0 }.map { $0.standardError + $0.standardOutput }.joined() }

    fileprivate func end() { for process in processes.withLock({ $0 }) { process.kill() } }

    /// A user's token, HS256 (RFC 7515).
    func token(of user: String) -> String {
        let claims = #"{"sub":"\#(user)","exp":\#(Timestamp.now.seconds + 600)}"#
        let signed = Data(#"{"alg":"HS256"}"#.utf8).base64URL + "." + Data(claims.utf8).base64URL
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: SymmetricKey(data: tokenSecret))
        return signed + "." + Data(code).base64URL
    }

    private func write(_ name: String, _ text: String) throws {
        try Data((text + "\n").utf8).write(to: folder.appending(path: name))
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

extension Data {
    /// base64url without padding (RFC 4648, section 5).
    fileprivate var base64URL: String {
        base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
