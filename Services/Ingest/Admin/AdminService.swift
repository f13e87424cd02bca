import Authentication
import Domain
import Foundations
import Hummingbird
import Messaging
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

/// Makes the operator's page.
///
/// - Throws: ``ConfigurationError`` if the password file or the certificate cannot be used.
func buildAdmin(
    _ admin: AdminConfiguration, authenticator: OperatorAuthenticator?, ingest: IngestConfiguration, store: any Store,
    publisher: RabbitMQDispatchPublisher, queues: any QueueReadings, relay: OutboxRelay, context: ServiceContext
) throws -> BuiltAdmin {
    let table = ProcessTable()
    let poller = MetricsPoller(configuration: admin, metrics: context.metrics, table: table, logger: context.logger)
    let messaging = ingest.messaging
    let controller = AdminController(
        source: OverviewSource(
            store: store, queues: queues, backlog: { relay.backlog }, table: table, configuration: admin,
            service: context),
        directory: AdminDirectory(store: store, platforms: ingest.own.platforms),
        actions: AdminActions(
            store: store, publisher: publisher, openDeadLetters: { try await RabbitMQDeadLetterQueue.open(messaging) },
            handOver: { relay.handOver(entries: CollectionOfOne($0)) }, logger: context.logger))
    let second = context.forSecondListener()
    let hosts = HostAllowList(
        listeningHost: admin.http.host, allowed: admin.allowedHosts, setting: ConfigurationKeys.adminAllowedHosts.name)
    let router: Router<ServiceRequestContext> = makeRouter(
        try adminRoutes(controller), context: second, guarding: AdminGuard(hosts: hosts, authenticator: authenticator))
    let http = try makeHTTPService(router: router, configuration: admin.http, context: second)
    return BuiltAdmin(
        services: [poller, http], sources: authenticator.map { [$0.source] } ?? [], router: router,
        context: second)
}
