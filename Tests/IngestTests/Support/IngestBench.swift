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
import ServiceConfiguration
import ServiceRuntime
import StackKit
import TestSupport
import Testing

@testable import Ingest

/// The ingest API around a store in memory, with the sender `clinic` and the user `alice`.
struct IngestBench: Sendable {
    let client: any TestClientProtocol
    let store: any Store
    let sealer: PayloadSealer
    let acceptor: NotificationAcceptor
    let publisher: FakePublisher
    let credentials: Credentials

    /// `POST /api/notifications` by the sender, unless a test says otherwise.
    func post(
        _ body: String, authorization: String? = nil, contentType: String? = "application/json",
        headers: HTTPFields = [:]
    ) async throws -> TestResponse {
        var fields = headers
        fields[.authorization] = authorization ?? credentials.sender
        fields[.contentType] = contentType
        return try await client.execute(
            uri: "/api/notifications", method: .post, headers: fields, body: ByteBuffer(string: body))
    }
}

/// What the callers of a bench present.
struct Credentials: Sendable {
    let sender: String
    let basic: String
    let bearer: String
    let configuration: UserAuthenticationConfiguration

    /// One for all tests: scrypt is slow.
    private static let passwordHash = Result { try PasswordHash.make(password: "correct horse") }

    /// Makes the files of the credentials in a folder.
    init(folder: URL) throws {
        let path = { (name: String) in folder.appending(path: name).path }
        sender = "Bearer " + (try APIKeysFile(path: path("api-keys")).add("clinic"))
        let alice = UserName("alice")!
        try Data("alice \(Self.passwordHash.get())".utf8).write(to: folder.appending(path: "users"))
        basic = "Basic " + Data("alice:correct horse".utf8).base64EncodedString()
        try TokenSigningKey.make(at: path("signing-key.pem"))
        configuration = UserAuthenticationConfiguration(
            usersFile: path("users"), signingKeyFile: path("signing-key.pem"))
        bearer = "Bearer " + (try TokenIssuer(configuration: configuration)!.issue(to: alice).token)
    }
}

extension Logger {
    /// A logger whose lines nobody needs; it keeps metadata, for a request's ID is in it.
    static let silent: Logger = {
        var handler = StreamLogHandler.standardError(label: "test")
        handler.logLevel = .critical
        let quiet = handler
        return Logger(label: "test") { _ in quiet }
    }()
}

/// Runs a test with the ingest API.
///
/// - Parameters:
///   - store: may be shared by several benches, as by several processes.
///   - writer: stands in the way of the store in memory.
///   - directory: answers in the place of the store in memory.
///   - payloadKeys: the text of the key ring.
///   - budget: the bytes that the requests in flight may hold.
///   - keys: answers in the place of the store in memory.
///   - userLimit: bounds how often a user sends to itself.
///   - maxBatchIdle: how long a batch may go on without a line.
///   - requiresEncryption: whether every payload must be encrypted end to end.
///   - server: `.live` listens at a port.
func withIngest(
    hasUsers: Bool = true, retention: Duration = .seconds(3600), store: any Store = memoryStore(),
    writer: (any NotificationWriter)? = nil, directory: (any SenderNotifications)? = nil,
    readiness: [ReadinessCheck] = [], details: [ReadinessDetail] = [], publisher: FakePublisher = FakePublisher(),
    payloadKeys: String = PayloadKeyRing.newLine(), budget: RequestBudget = RequestBudget(),
    keys: (any DeviceStore)? = nil, requiresEncryption: Bool = false,
    userLimit: RateLimiter? = nil, maxBatchIdle: Duration = BatchLimit.maxIdle,
    now: @escaping @Sendable () -> Timestamp = { .now },
    server: TestingSetup = .router, _ body: @escaping @Sendable (IngestBench) async throws -> Void
) async throws {
    try await withTemporaryFolderURL { folder in
        let credentials = try Credentials(folder: folder)
        let keyRing = folder.appending(path: "payload-keys")
        try Data(payloadKeys.utf8).write(to: keyRing)
        let sealer = try PayloadSealer(path: keyRing.path, logger: .silent)
        let context = ServiceContext(name: "ingest", logger: .silent, metrics: PrometheusMetrics())
        let authentication = SenderAuthentication(
            senders: try APIKeyRing(path: folder.appending(path: "api-keys").path, logger: .silent),
            users: hasUsers ? try UserAuthenticator(configuration: credentials.configuration, logger: .silent) : nil)
        var acceptor = NotificationAcceptor(
            store: writer ?? store, sealer: sealer,
            relay: OutboxRelay(outbox: store, publisher: publisher, probe: FakeQueueProbe(), logger: .silent),
            platforms: [.apple, .fcmv1, .windows], retention: retention, requiresEncryption: requiresEncryption)
        acceptor.now = now
        acceptor.budget = budget
        acceptor.userLimit = userLimit
        acceptor.maxBatchIdle = maxBatchIdle
        let routes: Routes<BasicRequestContext> = ingestRoutes(
            authentication: authentication, acceptor: acceptor, notifications: directory ?? store,
            devices: keys ?? store, reports: store)
        let router = makeRouter(routes, context: context)
        router.addOperations(
            readiness: readiness, details: details, openAPI: try ingestOpenAPI(platforms: acceptor.platforms),
            context: context)
        let made = acceptor
        let isDirect = RouteWay.current == .direct
        var configuration = HTTPConfiguration(port: 0)
        configuration.limits.streamedPaths = [BatchController.path.description]
        // A client that is late here is a machine that is busy.
        configuration.limits.headerTimeout = patience
        configuration.limits.bodyTimeout = patience
        configuration.limits.smallBodyTimeout = patience
        configuration.limits.slowReaderTimeout = patience
        let application = try makeHTTPApplication(
            router: router, direct: isDirect ? routes.direct(context) : nil,
            configuration: configuration, context: context)
        try await application.test(isDirect ? .live : server) { client in
            try await body(
                IngestBench(
                    client: client, store: store, sealer: sealer, acceptor: made, publisher: publisher,
                    credentials: credentials))
        }
    }
}

/// Builds ingest as its executable does, while nobody listens at its broker's port.
func withBuiltIngest<Value>(
    _ settings: [String: String] = [:],
    _ body: (IngestConfiguration, BuiltIngest, ServiceContext) async throws -> Value
) async throws -> Value {
    try await withTemporaryFolderURL { folder in
        _ = try Credentials(folder: folder)
        let keys = folder.appending(path: "payload-keys")
        try Data(PayloadKeyRing.newLine().utf8).write(to: keys)
        let own = [
            "DATABASE_URL": "memory:", "AMQP_URL": "amqp://guest:guest@127.0.0.1:1/%2F",
            "PAYLOAD_KEYS_FILE": keys.path, "INGEST_API_KEYS_FILE": folder.appending(path: "api-keys").path,
        ]
        var reader = ConfigurationReader(environment: own.merging(settings) { $1 })
        let read = IngestConfiguration(&reader)
        let configuration = try #require(read, "\(reader.issues)")
        let context = ServiceContext(name: "ingest", logger: .silent, metrics: PrometheusMetrics())
        return try await body(configuration, try await buildIngest(configuration, context: context), context)
    }
}
