import Authentication
import Domain
import Foundations
import HTTPTypes
import Hummingbird
import Logging
import NotificationHubs
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

/// The composition root: creates every part from the settings and connects the parts. Tests call it too.
func buildRetrieval(
    _ configuration: RetrievalConfiguration, context: ServiceContext
) async throws -> BuiltRetrieval {
    // The checks of settings come first, so that a start with wrong settings changes nothing.
    try await configuration.http.check()
    let users = try configuration.users.making { try UserAuthenticator(configuration: $0, logger: context.logger) }
    let issuer = try configuration.users.making { try TokenIssuer(configuration: $0, logger: context.logger) }
    issuer?.watchFiles()
    let sealer = try ConfigurationKeys.payloadKeysFile.making {
        try PayloadSealer(path: configuration.own.payloadKeysFile, logger: context.logger)
    }
    let pushKeys = try configuration.own.pushVerificationKeysFile.map { path in
        try ConfigurationKeys.pushVerificationKeysFile.making { try PushKeysFile(path: path, logger: context.logger) }
    }
    let hub = try configuration.hub.map { try RegisteringHubs($0, logger: context.logger) }
    let context = try context.auditing(to: configuration.own.auditLog)
    let opened = try await openStore(configuration.storage, logger: context.logger)

    let origins = configuration.own.webOrigins
    let cors =
        origins.isEmpty
        ? nil : CORSPolicy(origins: origins, headers: configuration.own.webHeaders.compactMap { HTTPField.Name($0) })
    let refresh = RefreshTokens(
        configuration: configuration.users, issuer: issuer, store: opened.store, logger: context.logger)
    let changes = DeviceChanges(hubs: hub?.hubs, store: opened.store, removals: DeviceRemovals(context.metrics))
    let routes: Routes<ServiceRequestContext> = retrievalRoutes(
        notifications: NotificationReadController(
            users: users, store: opened.store, sealer: sealer, metrics: RetrievalMetrics(context.metrics)),
        shown: ShownController(
            users: users, notifications: opened.store, reports: opened.store, metrics: context.metrics),
        answers: AnswerController(
            users: users, store: opened.store, sealer: sealer, metrics: AnswerMetrics(context.metrics)),
        tokens: TokenController(users: users, issuer: issuer, refresh: refresh),
        pushKeys: PushKeysController(keys: pushKeys, applicationServerKey: configuration.own.applicationServerKey),
        changes: changes, keys: opened.store, noticesKeys: configuration.own.noticesKeys, cors: cors)
    let keys = PayloadKeyWatch(store: opened.store, sealer: sealer, logger: context.logger)
    let router = makeRouter(routes, context: context)
    router.addOperations(
        readiness: [
            ReadinessCheck(name: "database") { await opened.readiness() },
            // The payloads of other keys can be read.
            ReadinessCheck(name: "payload_keys", isRequired: false) { keys.problem },
            context.watch([sealer.source] + users.sources + [pushKeys?.source, hub?.source].compactMap(\.self)),
        ],
        openAPI: try retrievalOpenAPI(), context: context)
    var sweeps: [any Service] = [Sweep { await keys.look() }]
    if let hub {
        sweeps += deviceSweeps(
            changes, staleAfter: configuration.own.deviceStaleAfter,
            feedback: configuration.own.readsFeedback ? hub.feedback : nil, logger: context.logger)
    }
    if let refresh {
        let sweep = RefreshTokenSweep(tokens: refresh, logger: context.logger)
        sweeps.append(Sweep(every: RefreshTokenSweep.interval) { await sweep.sweep() })
    }
    var services = [opened.service] + [hub?.service].compactMap(\.self) + sweeps.map(opened.following)
    if let audit = context.audit { services.append(audit) }
    services.append(
        try makeHTTPService(
            router: router, direct: routes.direct(context), configuration: configuration.http, context: context))
    return BuiltRetrieval(services: services, store: opened.store, router: router)
}

/// The hub, or the hubs, at which devices are registered.
private struct RegisteringHubs {
    var hubs: DevicePlacer.Hubs
    var service: any Service
    var feedback: DeadChannelSweep.Source
    /// The file of the connection string, or of several hubs.
    var source: ReloadableSource?

    init(_ settings: HubSettings, logger: Logger) throws(ConfigurationError) {
        switch settings {
        case .single(let configuration):
            let hub = HubDevices(configuration: configuration, logger: logger)
            (hubs, service, source) = (.single(hub), hub, hub.source)
            feedback = { [(configuration.hubName, hub)] }
        case .pool(let settings):
            let file = try ConfigurationKeys.hubPoolFile.making { try HubPoolFile(settings, logger: logger) }
            let pool = HubDevicesPool(file: file, logger: logger)
            (hubs, service, source) = (.pool { pool.table }, pool, pool.source)
            feedback = { pool.feedbacks }
        }
    }
}

func retrievalOpenAPI() throws -> OpenAPIDocument {
    try OpenAPIDocument(service: PackageResources.retrieval_json)
}
