import Authentication
import HTTPTypes
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

/// The composition root: creates every part from the settings and connects the parts. Tests call it too.
func buildRetrieval(
    _ configuration: RetrievalConfiguration, context: ServiceContext
) async throws -> BuiltRetrieval {
    // What a setting can be wrong about comes first, so that a start that fails has made nothing.
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
    let router = makeRouter(
        of: ServiceRequestContext.self, context: context, cors: cors, audited: retrievalAuditedRoutes,
        readChanges: NotificationReadController.marksAsRead)
    router.addOperations(
        readiness: [
            ReadinessCheck(name: "database") { await opened.readiness() },
            context.watch([sealer.source] + users.sources + [pushKeys?.source, hub?.source].compactMap(\.self)),
        ],
        openAPI: try retrievalOpenAPI(), context: context)
    let notifications = NotificationReadController(
        users: users, store: opened.store, sealer: sealer, metrics: RetrievalMetrics(context.metrics))
    notifications.addRoutes(to: router)
    let refresh = RefreshTokens(
        configuration: configuration.users, issuer: issuer, store: opened.store, logger: context.logger)
    TokenController(users: users, issuer: issuer, refresh: refresh).addRoutes(to: router)
    PushKeysController(keys: pushKeys).addRoutes(to: router)
    let changes = DeviceChanges(hubs: hub?.hubs, store: opened.store, removals: DeviceRemovals(context.metrics))
    addDeviceRoutes(to: router, users: users, changes: changes, keys: opened.store)
    var services: [any Service] = [opened.service]
    if let hub {
        services.append(hub.service)
        services.append(
            DeviceUpkeep(
                changes: changes, staleAfter: configuration.own.deviceStaleAfter,
                feedback: configuration.own.readsFeedback ? hub.feedback : nil, logger: context.logger))
    }
    if let refresh { services.append(RefreshTokenSweep(tokens: refresh, logger: context.logger)) }
    if let audit = context.audit { services.append(audit) }
    // A direct route has no lines in the audit log.
    let direct = context.audit == nil ? DirectRoutes([notifications.directRead], cors: cors) : nil
    services.append(
        try makeHTTPService(router: router, direct: direct, configuration: configuration.http, context: context))
    return BuiltRetrieval(services: services, store: opened.store, router: router)
}

/// The actions of the API in the audit log.
let retrievalAuditedRoutes: AuditedRoutes = [
    "GET /api/notifications/{id}": "read",
    "GET /api/notifications": .refusals(of: "inbox"),
    "POST /api/notifications/read": "mark-read",
    "POST /api/notifications/{id}/shown": .refusals(of: "shown"),
    "PUT /api/installations/{id}": "device.register",
    "GET /api/installations/{id}": .refusals(of: "device.get"),
    "DELETE /api/installations/{id}": "device.remove",
    "GET /api/installations": .refusals(of: "device.list"),
    "POST /api/register": "device.register",
    "PUT /api/register/{id}": "device.register",
    "DELETE /api/register/{id}": "device.remove",
    "DELETE /api/devices": "device.remove-all",
    "PUT /api/devices/{id}/key": "device.key",
    "POST /api/token": "token.issue",
    "DELETE /api/token": "token.revoke",
]

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

/// The description of the API.
func retrievalOpenAPI() throws -> OpenAPIDocument {
    try OpenAPIDocument(service: PackageResources.retrieval_json)
}

/// Adds the routes that register devices and their keys.
func addDeviceRoutes(
    to router: some RouterMethods<some RequestContext>, users: UserAuthenticator, changes: DeviceChanges,
    keys: any DeviceStore
) {
    RegistrationController(users: users, changes: changes).addRoutes(to: router)
    InstallationController(users: users, changes: changes).addRoutes(to: router)
    DeviceListController(users: users, changes: changes).addRoutes(to: router)
    EncryptionKeyController(users: users, keys: keys).addRoutes(to: router)
}
