import Authentication
import Hummingbird
import Logging
import NotificationHubs
import SecurePushCore
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime
import Storage

/// The parts of a retrieval service, in the order in which they start; they stop in the reverse order.
struct BuiltRetrieval {
    var services: [any Service]
    var store: any Store
    var router: Router<ServiceRequestContext>
}

/// The composition root: reads no settings, makes every part and joins them. Tests call it too.
func buildRetrieval(
    _ configuration: RetrievalConfiguration, context: ServiceContext
) async throws -> BuiltRetrieval {
    let opened = try await openStore(configuration.storage, logger: context.logger)
    let users = try configuration.users.making { try UserAuthenticator(configuration: $0, logger: context.logger) }
    let issuer = try configuration.users.making { try TokenIssuer(configuration: $0, logger: context.logger) }
    let caller = CallerAuthentication(users: users)
    let sealer = try ConfigurationKeys.payloadKeysFile.making {
        try PayloadSealer(path: configuration.payloadKeysFile, logger: context.logger)
    }
    let metrics = RetrievalMetrics(context.metrics)
    let hub = configuration.hub.map { HubDevices(configuration: $0, logger: context.logger) }

    let router = makeRouter(of: ServiceRequestContext.self, context: context)
    router.addOperations(
        readiness: [
            ReadinessCheck(name: "database") { await opened.readiness() },
            context.watch([sealer.source] + users.sources),
        ],
        openAPI: try retrievalOpenAPI(), context: context)
    NotificationsController(caller: caller, reader: opened.store, sealer: sealer, metrics: metrics)
        .addRoutes(to: router)
    InboxController(caller: caller, inbox: opened.store, metrics: metrics).addRoutes(to: router)
    TokenController(caller: caller, issuer: issuer).addRoutes(to: router)
    let changes = DeviceChanges(
        registrations: hub ?? NoHub(), installations: hub ?? NoHub(), store: opened.store)
    addDeviceRoutes(to: router, caller: caller, changes: changes)
    let upkeep = hub.map { _ in DeviceUpkeep(changes: changes, logger: context.logger) }
    let http = try makeHTTPService(router: router, configuration: configuration.http, context: context)
    let services: [(any Service)?] = [opened.service, hub, upkeep, http]
    return BuiltRetrieval(services: services.compactMap(\.self), store: opened.store, router: router)
}

/// The description of the API.
func retrievalOpenAPI() throws -> OpenAPIDocument {
    try OpenAPIDocument(service: PackageResources.retrieval_json)
}

/// The routes by which devices register.
func addDeviceRoutes(
    to router: some RouterMethods<some RequestContext>, caller: CallerAuthentication, changes: DeviceChanges
) {
    let takeover = DeviceTakeover(changes: changes)
    RegistrationController(caller: caller, changes: changes, takeover: takeover).addRoutes(to: router)
    InstallationController(caller: caller, changes: changes, takeover: takeover).addRoutes(to: router)
}
