import Authentication
import Hummingbird
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
    var router: Router<BasicRequestContext>
}

/// The composition root: reads no settings, makes every part and joins them. Tests call it too.
func buildRetrieval(
    _ configuration: RetrievalConfiguration, context: ServiceContext
) async throws -> BuiltRetrieval {
    let opened = try await openStore(configuration.storage, logger: context.logger)
    let users = try configuration.users.making { try UserAuthenticator(configuration: $0, logger: context.logger) }
    let issuer = try configuration.users.making { try TokenIssuer(configuration: $0) }
    let caller = CallerAuthentication(users: users)
    let sealer = try ConfigurationKeys.payloadKeysFile.making {
        try PayloadSealer(path: configuration.payloadKeysFile, logger: context.logger)
    }
    let hub = configuration.hub.map { HubRegistrations(configuration: $0, logger: context.logger) }

    let router = makeRouter(of: BasicRequestContext.self, context: context)
    router.addOperations(
        readiness: [ReadinessCheck(name: "database") { await opened.readiness() }], context: context)
    NotificationsController(caller: caller, reader: opened.store, sealer: sealer).addRoutes(to: router)
    TokenController(caller: caller, issuer: issuer).addRoutes(to: router)
    RegistrationController(caller: caller, hub: hub ?? NoHub(), store: opened.store).addRoutes(to: router)
    let http = try makeHTTPService(router: router, configuration: configuration.http, context: context)
    var services: [any Service] = [opened.service]
    if let hub { services.append(hub) }
    return BuiltRetrieval(services: services + [http], store: opened.store, router: router)
}

/// Stands where no hub is configured: devices cannot register here, and are told so.
private struct NoHub: RegistrationGateway {
    private var error: PushGatewayError { PushGatewayError(.unavailable, "no hub is configured") }

    func createRegistrationID() async throws -> String { throw error }
    func putRegistration(
        _ id: String, platform: RegistrationPlatform, handle: String, tags: [String]
    ) async throws { throw error }
    func registrationIDs(handle: String) async throws -> [String] { throw error }
    func deleteRegistration(_ id: String) async throws { throw error }
}
