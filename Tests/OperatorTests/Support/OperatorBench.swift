import APITestSupport
import Authentication
import Domain
import Foundation
import Foundations
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import ServiceLifecycle
import ServiceRuntime
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Operator

/// The service around a store, with a broker and dead letters in memory.
struct OperatorBench: StoringBench {
    let client: any TestClientProtocol
    let store: any Store
    let queues: FakeQueues
    let table: ProcessTable

    /// What ingest's relay would publish now.
    func due() async throws -> [OutboxEntry] {
        try await store.lease(limit: 1000, now: .now, until: .now + .seconds(60))
    }

    static let password = "correct horse"
    static let credentials = "Basic " + Data("admin:\(password)".utf8).base64EncodedString()

    func get(_ uri: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        try await client.execute(uri: uri, method: .get, headers: headers)
    }

    func post(_ uri: String, _ body: String, headers: HTTPFields = [:]) async throws -> TestResponse {
        var headers = headers
        if headers[.contentType] == nil { headers[.contentType] = "application/json" }
        return try await client.execute(
            uri: uri, method: .post, headers: headers, body: ByteBuffer(string: body))
    }

    static let secret = "never-in-an-answer"
    let payload = Array(Self.secret.utf8)

    static func delivery(_ platform: Platform, _ state: DeliveryState, _ error: String? = nil) -> Delivery {
        Delivery(platform: platform, state: state, attempts: 1, error: error, updatedAt: .now)
    }
}

struct Refusal: Error, CustomStringConvertible {
    let description: String
}

/// A broker's queues and dead letters in memory.
final class FakeQueues: QueueReadings, DeadLetterQueue {
    struct State: Sendable {
        var problem: String?
        var letters: [DeadLetter] = []
        var held: [DeadLetter] = []
        var asked = 0
    }
    let state = Mutex(State())

    func add(_ id: NotificationID?, reason: String, platforms: [Platform]? = nil) {
        state.withLock { state in
            let tag = UInt64(state.letters.count + 1)
            let message = id.map { DispatchMessage(id: $0, platforms: platforms) }
            state.letters.append(DeadLetter(tag: tag, message: message, reason: reason, byteCount: 36))
        }
    }

    func queues() async throws -> [QueueReading] {
        try state.withLock { state in
            state.asked += 1
            if let problem = state.problem { throw Refusal(description: problem) }
            return [
                QueueReading(name: "securepush.dispatch", purpose: .dispatch, messages: 3, consumers: 2),
                QueueReading(name: "securepush.retry.1", purpose: .retry, problem: "not permitted"),
                QueueReading(name: "securepush.dead", purpose: .dead, messages: state.letters.count, consumers: 0),
            ]
        }
    }

    func count() async throws -> Int { state.withLock { $0.letters.count } }

    func next() async throws -> DeadLetter? {
        state.withLock { state in
            guard !state.letters.isEmpty else { return nil }
            let letter = state.letters.removeFirst()
            state.held.append(letter)
            return letter
        }
    }

    func remove(_ letter: DeadLetter) async throws { state.withLock { $0.held.removeAll { $0.tag == letter.tag } } }
    func purge() async throws -> Int { 0 }

    func close() async {
        state.withLock { state in
            state.letters = state.held + state.letters
            state.held = []
        }
    }
}

/// Runs a test with the operator's page.
func withOperator(
    _ kind: StoreKind = .memory, hasPassword: Bool = false, allowedHosts: [String] = [], auditLog: String? = nil,
    _ body: @escaping @Sendable (OperatorBench) async throws -> Void
) async throws {
    try await withTemporaryFolderURL { folder in
        switch kind {
        case .memory: try await withOperator("memory:", folder, hasPassword, allowedHosts, auditLog, body)
        case .sqlite:
            try await withOperator("sqlite:\(folder.path)/s.sqlite", folder, hasPassword, allowedHosts, auditLog, body)
        case .postgres:
            try await withPostgresDatabase {
                try await withOperator($0, folder, hasPassword, allowedHosts, auditLog, body)
            }
        }
    }
}

private func withOperator(
    _ url: String, _ folder: URL, _ hasPassword: Bool, _ allowedHosts: [String], _ auditLog: String?,
    _ body: @escaping @Sendable (OperatorBench) async throws -> Void
) async throws {
    let opened = try await openStore(StorageConfiguration(url: url), logger: .silent)
    let file = folder.appending(path: "admin-password")
    try Data(OperatorBench.password.utf8).write(to: file)
    let authenticator = hasPassword ? try OperatorAuthenticator(passwordFile: file.path, logger: .silent) : nil
    let (queues, table, store) = (FakeQueues(), ProcessTable(), opened.store)
    let context = try ServiceContext(name: "operator", logger: .silent, metrics: PrometheusMetrics())
        .auditing(to: auditLog)
    let directory = OperatorDirectory(store: store, platforms: [.apple, .fcmv1, .windows])
    let controller = OperatorController(
        source: OverviewSource(
            directory: directory, backlog: { try await store.backlog(now: $0) },
            genericTexts: { try await store.genericTexts(since: $0) }, queues: queues, table: table,
            targets: [.dispatcher: [ProcessTarget("http://127.0.0.1:1")!]], service: context),
        directory: directory,
        actions: OperatorActions(store: store, openDeadLetters: { queues }, logger: .silent))
    let hosts = HostAllowList(listeningHost: "127.0.0.1", allowed: allowedHosts, setting: "ADMIN_ALLOWED_HOSTS")
    let router: Router<ServiceRequestContext> = makeRouter(
        operatorRoutes(controller), context: context,
        guarding: OperatorGuard(hosts: hosts, authenticator: authenticator))
    router.addOperations(readiness: [], context: context)
    let application = try makeHTTPApplication(
        router: router, configuration: HTTPConfiguration(port: 0), context: context)
    try await withRunning(opened.service) {
        try await expectEventually { await opened.readiness() == nil }
        try await application.test(.live) { client in
            try await body(OperatorBench(client: client, store: store, queues: queues, table: table))
        }
    }
}

extension Logger {
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
