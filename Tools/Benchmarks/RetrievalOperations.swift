import Authentication
import Crypto
import Domain
import Foundation
import Foundations
import Hummingbird
import ServiceRuntime
import StackKit
import Storage

@testable import Retrieval

extension Operation {
    /// A device's read of a notification with 1 KiB, without a store.
    static var retrieval: [Operation] {
        [
            Operation("retrieval.get.direct", count: 400) { folder in
                let bench = try await retrievalBench(folder, isDirect: true)
                return { try bench.run($0) }
            },
            Operation("retrieval.get.router", count: 300) { folder in
                let bench = try await retrievalBench(folder, isDirect: false)
                return { try bench.run($0) }
            },
        ]
    }

    /// The token of a device: verified for the first time, and known.
    static var tokens: [Operation] {
        [
            Operation("token.verify", count: 200) { folder in
                let issuer = TokenSource()
                let users = try issuer.authenticator(folder)
                var numbers = (0...).makeIterator()
                // Callgrind is told after the first call, so the tokens of all three are made here.
                var tokens = (0..<1000).map { _ in issuer.authorization("user\(numbers.next() ?? 0)") }.makeIterator()
                return { count in
                    for _ in 0..<count {
                        guard let token = tokens.next() else { throw Unexpected("All tokens are used.") }
                        keep(try await users.authenticate(authorization: token))
                    }
                }
            },
            Operation("token.remembered", count: 5000) { folder in
                let issuer = TokenSource()
                let users = try issuer.authenticator(folder)
                let token = issuer.authorization("user123")
                keep(try await users.authenticate(authorization: token))
                return { count in
                    for _ in 0..<count {
                        guard users.remembered(authorization: token) != nil else {
                            throw Unexpected("It is forgotten.")
                        }
                    }
                }
            },
        ]
    }

    private static func retrievalBench(_ folder: TemporaryFolder, isDirect: Bool) async throws -> HTTPBench {
        let context = ServiceContext(name: "retrieval", logger: Samples.logger, metrics: PrometheusMetrics())
        let issuer = TokenSource()
        let users = try issuer.authenticator(folder)
        let token = issuer.authorization(Samples.recipient.text)
        // Only a token that was verified before is for the direct route.
        keep(try await users.authenticate(authorization: token))
        let sealer = try Samples.sealer(folder)
        let id = NotificationID()
        let payload = try sealer.seal(Samples.payload(1024), id: id, recipient: Samples.recipient)
        let stored = StoredNotification(
            id: id, createdAt: .now, expiresAt: .now + .seconds(86_400), readAt: .now, isRevoked: false,
            payload: payload, traceparent: Samples.traceparent)
        let controller = NotificationReadController(
            users: users, store: FixedReader(base: try openStoreInMemory(), stored: stored), sealer: sealer,
            metrics: RetrievalMetrics(context.metrics))
        let routes = Routes<ServiceRequestContext>([
            Route(
                .get, "/api/notifications/:id", nil, controller.read, direct: controller.readDirectly)
        ])
        let router = makeRouter(routes, context: context)
        let request = "GET /api/notifications/\(id) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: \(token)\r\n\r\n"
        return try await HTTPBench(
            router: router, direct: isDirect ? routes.direct(context) : nil, context: context,
            request: request, status: 200)
    }
}

/// Answers each read at once with the same notification, which was read before.
struct FixedReader: ForwardingStore {
    let base: any Store
    let stored: StoredNotification

    func find(
        _ id: NotificationID, recipient: UserName,
        then completion: @escaping @Sendable (Result<StoredNotification?, any Error>) -> Void
    ) { completion(.success(stored)) }

    func markRead(
        _ id: NotificationID, at time: Timestamp, then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) { completion(.success(())) }
}

/// Signs tokens as an identity provider does, with HS256.
struct TokenSource {
    private let secret = SymmetricKey(data: Data(repeating: 7, count: 32))
    private let expiry = Timestamp.now.seconds + 86_400

    func authorization(_ user: String) -> String {
        let claims = #"{"sub":"\#(user)","exp":\#(expiry)}"#
        let signed = "\(Base64.encode(#"{"alg":"HS256"}"#.utf8, .url)).\(Base64.encode(claims.utf8, .url))"
        let code = HMAC<SHA256>.authenticationCode(for: Data(signed.utf8), using: secret)
        return "Bearer \(signed).\(Base64.encode(Array(code), .url))"
    }

    func authenticator(_ folder: TemporaryFolder) throws -> UserAuthenticator {
        let key = secret.withUnsafeBytes { Base64.encode($0, .url) }
        let path = try folder.file("jwks.json", #"{"keys":[{"kty":"oct","alg":"HS256","k":"\#(key)"}]}"#)
        return try UserAuthenticator(
            configuration: UserAuthenticationConfiguration(jwksFile: path), logger: Samples.logger)
    }
}
