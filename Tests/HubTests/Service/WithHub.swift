import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime
import StackKit
import TestSupport
import Testing

@testable import Hub

/// A running `hub`, as its clients and its operator see it.
struct TestHub: Sendable {
    static let key = "c2VjdXJlcHVzaC1odWItdGVzdC1rZXktMDEyMzQ1Njc="

    let client: any TestClientProtocol
    let folder: String
    let state: EmulatorState
    let context: ServiceContext

    var accessFile: String { folder + "/hub-access" }
    var credentialsFile: String { folder + "/push-credentials.json" }

    func call(
        _ method: HTTPRequest.Method, _ path: String, rule: String? = "root", headers: HTTPFields = [:],
        body: String? = nil
    ) async throws -> TestResponse {
        var headers = headers
        if let rule { headers[.authorization] = TestToken.make(rule: rule, key: Self.key) }
        return try await client.execute(
            uri: path, method: method, headers: headers, body: body.map { ByteBuffer(string: $0) })
    }

    /// A request that any valid token may make.
    func status(rule: String) async throws -> HTTPResponse.Status {
        try await call(.get, Self.listOfOne, rule: rule).status
    }

    /// The status of a `GET` with one field besides or in place of `Host`.
    func status(of path: String, _ field: String) async throws -> Int {
        let host = field.hasPrefix("Host:") ? [] : ["Host: 127.0.0.1"]
        let head = ["GET \(path) HTTP/1.1"] + host + [field]
        return try await RawExchange.send(
            head.joined(separator: "\r\n") + "\r\n\r\n", port: try #require(client.port)
        ).status
    }

    static let listOfOne = "/app/registrations/?api-version=2020-06&$filter=deviceToken%20eq%20'A'"

    /// Makes a request, and expects a status.
    func expect(
        _ status: HTTPResponse.Status, _ method: HTTPRequest.Method, _ path: String, rule: String? = "root",
        body: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let answer = try await call(method, path, rule: rule, body: body)
        #expect(answer.status == status, "\(path)", sourceLocation: sourceLocation)
    }

    func readiness() async throws -> String { try await call(.get, "/readyz", rule: nil).text }

    /// Replaces a file as a whole, with mode 0600.
    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + ".new"))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + ".new")
        guard rename(path + ".new", path) == 0 else { throw CocoaError(.fileWriteUnknown) }
    }

    static let rules = """
        App root Manage \(key)
        app listener Listen \(key)
        * everywhere Listen \(key)
        """
    static let simulated = #"{"app": {"apns": {"simulated": true}, "fcm": {"simulated": true}}}"#
}

/// Runs a test against a hub of its own, on a port of loopback.
func withHub(
    rules: String = TestHub.rules, credentials: String = TestHub.simulated, settings: [String: String] = [:],
    _ test: @escaping @Sendable (TestHub) async throws -> Void
) async throws {
    let folder = temporaryPath()
    defer { removeFile(folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try TestHub.write(rules, to: folder + "/hub-access")
    try TestHub.write(credentials, to: folder + "/push-credentials.json")
    var reader = ConfigurationReader(
        environment: [
            "HTTP_PORT": "0", "DATABASE_URL": "memory:", "HUB_ACCESS_FILE": folder + "/hub-access",
            "PUSH_CREDENTIALS_FILE": folder + "/push-credentials.json",
        ].merging(settings) { $1 })
    let read = HubServiceConfiguration(&reader)
    var configuration = try #require(read, "\(reader.issues)")
    // The other tests, and the push services that they start, may leave a push without a processor for longer.
    configuration.delivery.pushTimeout = patience
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let context = ServiceContext(name: "hub", logger: logger, metrics: PrometheusMetrics())
    let hub = try await buildHub(configuration, context: context)
    let state = hub.state
    // All but the HTTP server, in place of which the test's runs.
    let services = ServiceGroup(services: hub.services.dropLast(), gracefulShutdownSignals: [], logger: logger)
    let running = Task { try await services.run() }
    let result: Result<Void, any Error>
    do {
        let application = try makeHTTPApplication(
            router: hub.router, direct: SendController(state: state).directRoutes, configuration: configuration.http,
            context: context)
        try await application.test(.live) { client in
            try await test(TestHub(client: client, folder: folder, state: state, context: context))
        }
        result = .success(())
    } catch {
        result = .failure(error)
    }
    await services.triggerGracefulShutdown()
    try await running.value
    try result.get()
}
