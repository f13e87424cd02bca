import Authentication
import Domain
import Foundations
import Hummingbird
import Messaging
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime
import Storage

/// The parts of an ingest service, in the order in which they start; they stop in the reverse order.
struct BuiltIngest {
    var services: [any Service]
    var store: any Store
    var router: Router<ServiceRequestContext>
}

/// The composition root: creates every part from the settings and connects the parts. Tests call it too.
func buildIngest(_ configuration: IngestConfiguration, context: ServiceContext) async throws -> BuiltIngest {
    // The checks of settings come first, so that a start with wrong settings changes nothing.
    try await configuration.http.check()
    let senders = try ConfigurationKeys.ingestAPIKeysFile.making {
        try APIKeyRing(path: configuration.own.apiKeysFile, logger: context.logger)
    }
    let sealer = try ConfigurationKeys.payloadKeysFile.making {
        try PayloadSealer(path: configuration.own.payloadKeysFile, logger: context.logger)
    }
    let users =
        configuration.users.isUsable
        ? try configuration.users.making { try UserAuthenticator(configuration: $0, logger: context.logger) } : nil
    let context = try context.auditing(to: configuration.own.auditLog)
    let opened = try await openStore(configuration.storage, logger: context.logger)
    let publisher = try RabbitMQDispatchPublisher(
        configuration: configuration.messaging, tracer: context.tracer, logger: context.logger)
    let queues = RabbitMQInspector(configuration: configuration.messaging)
    let relay = OutboxRelay(
        outbox: opened.store, publisher: publisher, probe: queues, logger: context.logger)

    var acceptor = NotificationAcceptor(
        store: opened.store, sealer: sealer, relay: relay, platforms: configuration.own.platforms,
        retention: configuration.own.retention, requiresEncryption: configuration.own.requiresEncryption)
    acceptor.userLimit = configuration.own.userRateLimit.map { RateLimiter("user", $0) }
    let routes: Routes<ServiceRequestContext> = ingestRoutes(
        authentication: SenderAuthentication(senders: senders, users: users), acceptor: acceptor,
        notifications: opened.store, devices: opened.store, reports: opened.store)
    let router = makeRouter(routes, context: context)
    router.addOperations(
        readiness: [
            ReadinessCheck(name: "database") { await opened.readiness() },
            // Without the broker the outbox fills, but no request is refused.
            ReadinessCheck(name: "amqp", isRequired: false) { publisher.problem },
            context.watch([senders.source, sealer.source] + (users?.sources ?? [])),
        ],
        details: [relay.readinessDetail], openAPI: try ingestOpenAPI(platforms: configuration.own.platforms),
        context: context)
    let purge = PurgeSweep(retention: opened.store, logger: context.logger)
    var sweeps: [any Service] = [relay, Sweep(every: PurgeSweep.interval) { await purge.sweep() }]
    if configuration.own.noticesKeys {
        let notices = KeyNoticeSweep(notices: opened.store, acceptor: acceptor, logger: context.logger)
        sweeps.append(Sweep(every: KeyNoticeSweep.interval) { await notices.sweep() })
    }
    var listener = configuration.http
    listener.limits.streamedPaths = [BatchController.path.description]
    let http = try makeHTTPService(
        router: router, direct: routes.direct(context), configuration: listener, context: context)
    return BuiltIngest(
        services: [opened.service, publisher, queues] + sweeps.map(opened.following)
            + [context.audit].compactMap(\.self)
            + [http], store: opened.store, router: router)
}

/// The description of the API, with the platforms that this service is configured for.
func ingestOpenAPI(platforms: [Platform]) throws -> OpenAPIDocument {
    let names = platforms.map { JSONText.quoted($0.rawValue) }.joined(separator: ",")
    return try OpenAPIDocument(
        service: PackageResources.ingest_json,
        settings: #"{"components":{"schemas":{"Platform":{"enum":[\#(names)]}}}}"#)
}
