import Authentication
import Domain
import Foundations
import Hummingbird
import ServiceRuntime
import StackKit
import Storage

@testable import Ingest

extension Operation {
    /// A request of an application server with 1 KiB, without a store.
    static var ingest: [Operation] {
        [
            Operation("ingest.post.direct", count: 400) { folder in
                let bench = try await ingestBench(folder, isDirect: true)
                return { try bench.run($0) }
            },
            Operation("ingest.post.router", count: 300) { folder in
                let bench = try await ingestBench(folder, isDirect: false)
                return { try bench.run($0) }
            },
            .repeating("ingest.read-request", count: 3000) { _ in
                let body = Array(createBody.utf8)
                return {
                    try body.withUnsafeBufferPointer { text in
                        keep(
                            try CreateNotificationRequest(
                                body: text, available: Samples.platforms, retention: .seconds(86_400), now: .now))
                    }
                }
            },
        ]
    }

    private static let createBody =
        #"{"recipient":"user123","payload":\#(String(decoding: Samples.payload(1024), as: UTF8.self))}"#

    private static func ingestBench(_ folder: TemporaryFolder, isDirect: Bool) async throws -> HTTPBench {
        let context = ServiceContext(name: "ingest", logger: Samples.logger, metrics: PrometheusMetrics())
        let path = folder.path("api-keys")
        let key = try APIKeysFile(path: path).add("clinic")
        let store = FixedWriter(base: try openStoreInMemory())
        let acceptor = NotificationAcceptor(
            store: store, sealer: try Samples.sealer(folder),
            relay: OutboxRelay(
                outbox: store, publisher: AwayBroker(), probe: AwayBroker(), logger: Samples.logger),
            platforms: Samples.platforms, retention: .seconds(86_400))
        let controller = NotificationSendController(
            authentication: SenderAuthentication(
                senders: try APIKeyRing(path: path, logger: Samples.logger), users: nil),
            acceptor: acceptor)
        let routes = Routes<ServiceRequestContext>([
            Route(
                .post, "/api/notifications", nil, controller.create, direct: controller.createDirectly,
                maxDirectBody: RequestBudget.Limit.maxSmallBytes)
        ])
        let router = makeRouter(routes, context: context)
        let request = """
            POST /api/notifications HTTP/1.1\r
            Host: 127.0.0.1\r
            Content-Type: application/json\r
            Authorization: Bearer \(key)\r
            Content-Length: \(createBody.utf8.count)\r
            \r

            """
        return try await HTTPBench(
            router: router, direct: isDirect ? routes.direct(context) : nil, context: context,
            request: request + createBody, status: 201)
    }
}

/// Says at once that everything is stored.
struct FixedWriter: ForwardingStore {
    let base: any Store

    func append(
        _ notifications: [SealedNotification], then completion: @escaping @Sendable (Result<Void, any Error>) -> Void
    ) { completion(.success(())) }
}

/// A broker that cannot be reached, so that the relay takes nothing over.
struct AwayBroker: DispatchPublisher, DispatchQueueProbe {
    var isConnected: Bool { false }

    func publish(
        _ messages: [(message: DispatchMessage, route: DispatchRoute)]
    ) async -> [Result<Void, MessagingError>] {
        messages.map { _ in .failure(MessagingError(.nacked, "away")) }
    }

    func readyDispatches() async -> Int? { nil }
}
