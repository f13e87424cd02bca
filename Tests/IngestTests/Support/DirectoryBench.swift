import APITestSupport
import Authentication
import Domain
import Foundation
import Foundations
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import ServiceRuntime
import TestSupport

@testable import Ingest

/// The routes for what became of notifications, around a store in memory, with the senders `clinic` and `lab`.
struct DirectoryBench: StoringBench {
    let client: any TestClientProtocol
    let store: any Store
    let credentials: Credentials
    /// What the other sender presents.
    let lab: String
    /// What was handed over to be published.
    let handedOver: Mailbox<OutboxEntry>
    let sealer: PayloadSealer

    /// A request by `clinic`, unless a test says otherwise; an empty authorization leaves the header out.
    func send(
        _ method: HTTPRequest.Method = .get, _ uri: String, authorization: String? = nil
    ) async throws -> TestResponse {
        let authorization = authorization ?? credentials.sender
        return try await client.execute(
            uri: uri, method: method, headers: authorization.isEmpty ? [:] : [.authorization: authorization])
    }

    func status(of id: NotificationID, authorization: String? = nil) async throws -> TestResponse {
        try await send(.get, "/api/notifications/\(id)/status", authorization: authorization)
    }

    let payload: [UInt8] = [1, 2, 3]
}

/// Runs a test with the routes for what became of notifications.
func withDirectory(
    _ body: @escaping @Sendable (DirectoryBench) async throws -> Void
) async throws {
    try await withTemporaryFolderURL { folder in
        let credentials = try Credentials(folder: folder)
        let path = folder.appending(path: "api-keys").path
        let lab = "Bearer " + (try APIKeysFile(path: path).add("lab"))
        let keyRing = folder.appending(path: "payload-keys")
        try Data(PayloadKeyRing.newLine().utf8).write(to: keyRing)
        let sealer = try PayloadSealer(path: keyRing.path, logger: .silent)
        let (store, handedOver) = (memoryStore(), Mailbox<OutboxEntry>())
        let context = ServiceContext(name: "ingest", logger: .silent, metrics: PrometheusMetrics())
        let controller = NotificationStatusController(
            authentication: SenderAuthentication(
                senders: try APIKeyRing(path: path, logger: .silent),
                users: try UserAuthenticator(configuration: credentials.configuration, logger: .silent)),
            notifications: store, devices: store, reports: store, platforms: [.apple, .fcmv1, .windows], sealer: sealer
        ) { handedOver.put(CollectionOfOne($0)) }
        let routes = Routes<BasicRequestContext>([
            Route(.get, "/api/notifications", nil, controller.list),
            Route(.get, "/api/notifications/:id/status", nil, controller.status),
            Route(.delete, "/api/notifications/:id", nil, controller.revoke),
            Route(.post, "/api/notifications/:id/resend", nil, controller.resend),
        ])
        let router = makeRouter(routes, context: context)
        let application = try makeHTTPApplication(
            router: router, configuration: HTTPConfiguration(port: 0), context: context)
        try await application.test(.router) { client in
            try await body(
                DirectoryBench(
                    client: client, store: store, credentials: credentials, lab: lab, handedOver: handedOver,
                    sealer: sealer))
        }
    }
}
