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
import ServiceRuntime
import Synchronization
import TestSupport
import Testing

@testable import Retrieval

/// The retrieval API around a store in memory and a recording hub, with the users `alice` and `bob`.
struct RetrievalBench: Sendable {
    let client: any TestClientProtocol
    let store: any Store
    let hub: FakeHub
    let changes: DeviceChanges
    let sealer: PayloadSealer
    let metrics: PrometheusMetrics
    let users: UserAuthenticator
    /// `nil` where no signing key is configured.
    let issuer: TokenIssuer?
    /// Signs for users who are not in the users' file, as an identity provider does.
    let provider: TokenIssuer?
    /// `nil` without a lifetime of refresh tokens.
    let refresh: RefreshTokens?
    /// Holds the file `users` and the keys.
    let folder: String

    /// Stores a notification with this JSON text as its payload.
    func accept(
        _ payload: String, for name: String = "alice", createdAt: Timestamp = .now,
        expiresAt: Timestamp = .now + .seconds(3600), notBefore: Timestamp? = nil, traceparent: String? = nil,
        display: Display = .full, answers: [String] = [], challenge: String? = nil
    ) async throws -> NotificationID {
        let user = try #require(UserName(name))
        let notification = Notification(
            id: NotificationID(at: createdAt), sender: "clinic", recipient: user, createdAt: createdAt,
            expiresAt: expiresAt, notBefore: notBefore, traceparent: traceparent, display: display)
        let sealed = try sealer.seal(Array(payload.utf8), id: notification.id, recipient: user)
        let context = Question.challengeContext(notification.id, recipient: user)
        let fingerprint = challenge.map { sealer.fingerprint(of: Array($0.utf8), context: context) }
        let question = answers.isEmpty ? nil : Question(options: answers, challenge: fingerprint)
        try await store.append([SealedNotification(notification: notification, payload: sealed, question: question)])
        return notification.id
    }

    /// Searches the hub for all handles that wait for it, as the service does after requests.
    func searchHub() async throws {
        let search = NewHandleSearch(changes: changes, logger: .silent)
        for _ in 0..<100 {
            // Handed out until now: it is due at once.
            guard try await store.leaseNewHandle(now: .now, until: .now) != nil else { return }
            _ = await search.searchNext()
        }
        Issue.record("The search does not end.")
    }

    /// Brings the hub to the state of the store, as the service does for changes whose leases have expired.
    ///
    /// - Returns: how long the reconciler rests then.
    @discardableResult func reconcile(at time: Timestamp = .now) async -> Duration {
        await HubReconciler(changes: changes, logger: .silent).sweep(now: time)
    }

    /// A bearer token of a user, as `Authorization` has it.
    func token(_ name: String = "alice", at time: Timestamp = .now) throws -> String {
        let user = try #require(UserName(name))
        let signer = ["alice", "bob"].contains(name) ? issuer : provider
        return "Bearer " + (try #require(signer).issue(to: user, now: time).token)
    }

    func basic(_ name: String = "alice", _ password: String = "correct horse") -> String {
        "Basic " + Data("\(name):\(password)".utf8).base64EncodedString()
    }

    func request(
        _ method: HTTPRequest.Method, _ path: String, by authorization: String?, body: String = "",
        contentType: String? = "application/json"
    ) async throws -> TestResponse {
        var headers: HTTPFields = [:]
        headers[.contentType] = contentType
        headers[.authorization] = authorization
        // Only a token that was verified before is for the direct route.
        if RouteWay.current == .direct { _ = try? await users.authenticate(authorization: authorization) }
        return try await client.execute(
            uri: path, method: method, headers: headers, body: ByteBuffer(string: body))
    }
}

extension RetrievalBench {
    /// Stores a notification for `alice` whose key the service does not have.
    func acceptUnopenable(_ id: NotificationID = NotificationID()) async throws -> NotificationID {
        let ring = FileManager.default.temporaryDirectory.appending(path: "ring-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: ring) }
        try Data(PayloadKeyRing.newLine().utf8).write(to: ring)
        let other = try PayloadSealer(path: ring.path, logger: .silent)
        let user = try #require(UserName("alice"))
        let lost = Notification(id: id, sender: "clinic", recipient: user, expiresAt: .now + .seconds(60))
        let sealed = try other.seal(Array(#""a lost secret""#.utf8), id: lost.id, recipient: user)
        try await store.append([SealedNotification(notification: lost, payload: sealed)])
        return lost.id
    }
}

extension TestResponse {
    /// The IDs in a page of the inbox.
    func listedIDs() throws -> [String] {
        #expect(status == .ok, "\(text)")
        let entries = try #require(try object()["Notifications"] as? [[String: Any]])
        return entries.compactMap { $0["Id"] as? String }
    }
}

extension Logger {
    /// A logger whose lines nobody needs.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// Keeps JSON log lines for a test to look at.
final class KeptLog: Sendable {
    private let kept = Mutex<[String]>([])
    private let level: Logger.Level

    init(_ level: Logger.Level) { self.level = level }

    var lines: [String] { kept.withLock { $0 } }
    var logger: Logger {
        Logger(label: "test") { label in
            JSONLogHandler(label: label, service: "retrieval", logLevel: self.level) { bytes in
                self.kept.withLock { $0.append(String(decoding: bytes, as: UTF8.self)) }
            }
        }
    }
}

/// One for all tests: scrypt is slow.
private let passwordHash = Result { try PasswordHash.make(password: "correct horse") }

/// Runs a test with the retrieval API.
///
/// - Parameters:
///   - issuesTokens: whether there are keys for tokens and pushes.
///   - away: whether the store of registrations and installations is away.
///   - deviceError: what that store fails with otherwise, and the store of refresh tokens too.
///   - reader: answers in the place of the store in memory.
///   - refreshTTL: the lifetime of refresh tokens; none are issued without it.
///   - budget: for the pages with payloads.
///   - cors: the web apps that may call.
///   - hasAuditLog: whether requests write lines to `audit.log`.
///   - noticesKeys: whether users are told about new keys.
func withRetrieval(
    issuesTokens: Bool = true, storeIsAway away: Bool = false, deviceError: StorageError? = nil,
    reader: (any NotificationReader)? = nil,
    refreshTTL: Duration? = nil, readiness: [ReadinessCheck] = [], logger: Logger = .silent,
    budget: RequestBudget = RequestBudget(), cors: CORSPolicy? = nil, hasAuditLog: Bool = false,
    noticesKeys: Bool = false,
    _ body: @escaping @Sendable (RetrievalBench) async throws -> Void
) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "securepush-retrieval-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let path = { (name: String) in folder.appending(path: name).path }
    let hash = try passwordHash.get()
    try Data("alice \(hash)\nbob \(hash)".utf8).write(to: folder.appending(path: "users"))
    try TokenSigningKey.make(at: path("signing-key.pem"))
    try Data(PayloadKeyRing.newLine().utf8).write(to: folder.appending(path: "payload-keys"))
    let configuration = UserAuthenticationConfiguration(
        usersFile: path("users"), signingKeyFile: issuesTokens ? path("signing-key.pem") : nil, tokenTTL: .seconds(600),
        refreshTTL: refreshTTL)
    let (store, hub) = (memoryStore(), FakeHub())
    let sealer = try PayloadSealer(path: path("payload-keys"), logger: .silent)
    let issuer = try TokenIssuer(configuration: configuration)
    let provider = try TokenIssuer(
        configuration: UserAuthenticationConfiguration(
            signingKeyFile: configuration.signingKeyFile, tokenTTL: configuration.tokenTTL))
    let users = try UserAuthenticator(configuration: configuration, logger: .silent)
    let context = try ServiceContext(name: "retrieval", logger: logger, metrics: PrometheusMetrics())
        .auditing(to: hasAuditLog ? path("audit.log") : nil)
    let metrics = RetrievalMetrics(context.metrics)
    let pushKeys = path("push-keys.json")
    try Data(PushVerificationKeys(PushSigningKey().publicKey).jwks.utf8).write(
        to: folder.appending(path: "push-keys.json"))
    let failing = deviceError.map { AwayStore($0) } ?? (away ? AwayStore() : nil)
    let refresh = RefreshTokens(
        configuration: configuration, issuer: issuer, store: failing ?? store, logger: .silent)
    let changes = DeviceChanges(hubs: .single(hub), store: failing ?? store, removals: DeviceRemovals(context.metrics))
    let routes: Routes<BasicRequestContext> = retrievalRoutes(
        notifications: NotificationReadController(
            users: users, store: reader ?? store, sealer: sealer, metrics: metrics, budget: budget),
        shown: ShownController(
            users: users, notifications: reader ?? store, reports: store, metrics: context.metrics),
        answers: AnswerController(
            users: users, store: reader as? any AnswerStore & NotificationReader ?? store, sealer: sealer,
            metrics: AnswerMetrics(context.metrics)),
        tokens: TokenController(users: users, issuer: issuer, refresh: refresh),
        pushKeys: PushKeysController(
            keys: issuesTokens ? try PushKeysFile(path: pushKeys, logger: .silent) : nil,
            applicationServerKey: issuesTokens ? ApplicationServerKey(PushConfigurationTests.key) : nil),
        changes: changes, keys: failing ?? store, noticesKeys: noticesKeys, cors: cors)
    let router = makeRouter(routes, context: context)
    router.addOperations(readiness: readiness, openAPI: try retrievalOpenAPI(), context: context)
    let isDirect = RouteWay.current == .direct
    let application = try makeHTTPApplication(
        router: router, direct: isDirect ? routes.direct(context) : nil,
        configuration: HTTPConfiguration(port: 0), context: context)
    try await application.test(isDirect ? .live : .router) { client in
        try await body(
            RetrievalBench(
                client: client, store: store, hub: hub, changes: changes, sealer: sealer, metrics: context.metrics,
                users: users, issuer: issuer, provider: provider, refresh: refresh, folder: folder.path))
    }
}
