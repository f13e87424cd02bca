import Authentication
import Domain
import Foundations
import Hummingbird
import Messaging
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime
import Storage

/// The parts of an operator service, in the order in which they start; they stop in the reverse order.
struct BuiltOperator {
    var services: [any Service]
    var router: Router<ServiceRequestContext>
}

/// The composition root: creates every part from the settings and connects the parts. Tests call it too.
///
/// Decision: docs/decisions/0037-operator-is-a-service.md
func buildOperator(_ configuration: OperatorConfiguration, context: ServiceContext) async throws -> BuiltOperator {
    // The checks of settings come first, so that a start with wrong settings changes nothing.
    try await configuration.http.check()
    let authenticator = try configuration.authenticator(context.logger)
    let context = try context.auditing(to: configuration.auditLog)
    let opened = try await openStore(configuration.storage, logger: context.logger)
    let store = opened.store
    let queues = RabbitMQInspector(configuration: configuration.messaging)
    let table = ProcessTable()
    let poller = ProcessPoller(
        targets: configuration.targets, metrics: context.metrics, table: table, authorities: configuration.authorities)
    let directory = OperatorDirectory(store: store, platforms: configuration.platforms)
    let messaging = configuration.messaging
    let controller = OperatorController(
        source: OverviewSource(
            directory: directory, backlog: { try await store.backlog(now: $0) },
            genericTexts: { try await store.genericTexts(since: $0) }, queues: queues, table: table,
            targets: configuration.targets, service: context),
        directory: directory,
        actions: OperatorActions(
            store: store, openDeadLetters: { try await RabbitMQDeadLetterQueue.open(messaging) },
            logger: context.logger))
    let hosts = HostAllowList(
        listeningHost: configuration.http.host, allowed: configuration.allowedHosts,
        setting: ConfigurationKeys.adminAllowedHosts.name)
    let router: Router<ServiceRequestContext> = makeRouter(
        operatorRoutes(controller), context: context,
        guarding: OperatorGuard(hosts: hosts, authenticator: authenticator))
    router.addOperations(
        readiness: [
            ReadinessCheck(name: "database") { await opened.readiness() },
            // Without the broker the page shows everything else.
            ReadinessCheck(name: "amqp", isRequired: false) {
                do { _ = try await queues.queues() } catch { return "\(error)" }
                return nil
            },
            context.watch([authenticator?.source].compactMap(\.self)),
        ], context: context)
    let http = try makeHTTPService(router: router, configuration: configuration.http, context: context)
    return BuiltOperator(
        services: [opened.service, queues, poller] + [context.audit].compactMap(\.self) + [http], router: router)
}
