import Authentication
import Hummingbird
import Messaging
import SecurePushCore
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime

/// The parts of the operator's page: a second listener of ingest, the poller of metrics and a connection to the broker.
struct BuiltAdmin {
    var services: [any Service]
    /// The password file, if there is one.
    var sources: [ReloadableSource]
    var router: Router<ServiceRequestContext>
    /// The context of the second listener.
    var context: ServiceContext
}

/// The actions of the operator's page in the audit log.
let adminAuditedRoutes: AuditedRoutes = [
    "GET /": .refusals(of: "operator.overview"),
    "GET /dead-letters": .refusals(of: "operator.dead-letters"),
    "GET /notifications/{id}": "operator.look",
    "GET /admin/api/overview": .refusals(of: "operator.overview"),
    "GET /admin/api/failures": .refusals(of: "operator.failures"),
    "POST /admin/api/failures/resend": "operator.resend-failures",
    "GET /admin/api/dead-letters": .refusals(of: "operator.dead-letters"),
    "POST /admin/api/dead-letters/replay": "operator.replay",
    "POST /admin/api/notifications/search": "operator.search",
    "GET /admin/api/notifications/{id}": "operator.look",
    "POST /admin/api/notifications/{id}/resend": "operator.resend",
]

/// Makes the operator's page.
///
/// - Throws: ``ConfigurationError`` if the password file or the certificate cannot be used.
func buildAdmin(
    _ admin: AdminConfiguration, authenticator: OperatorAuthenticator?, ingest: IngestConfiguration, store: any Store,
    publisher: RabbitMQDispatchPublisher, queues: any QueueReadings, relay: OutboxRelay, context: ServiceContext
) throws -> BuiltAdmin {
    let book = ProcessBook()
    let poller = MetricsPoller(configuration: admin, metrics: context.metrics, book: book, logger: context.logger)
    let messaging = ingest.messaging
    let controller = AdminController(
        source: OverviewSource(
            store: store, queues: queues, backlog: { relay.backlog }, book: book, configuration: admin,
            service: context),
        directory: AdminDirectory(store: store, platforms: ingest.own.platforms),
        actions: AdminActions(
            store: store, publisher: publisher, openDeadLetters: { try await RabbitMQDeadLetterQueue.open(messaging) },
            handOver: { relay.handOver(entries: CollectionOfOne($0)) }, logger: context.logger))
    let second = context.forSecondListener()
    let router = makeRouter(of: ServiceRequestContext.self, context: second, audited: adminAuditedRoutes)
    try addAdminRoutes(
        to: router, controller: controller,
        hosts: HostAllowList(
            listeningHost: admin.http.host, allowed: admin.allowedHosts,
            setting: ConfigurationKeys.adminAllowedHosts.name),
        authenticator: authenticator)
    let http = try makeHTTPService(router: router, configuration: admin.http, context: second)
    return BuiltAdmin(
        services: [poller, http], sources: authenticator.map { [$0.source] } ?? [], router: router,
        context: second)
}
