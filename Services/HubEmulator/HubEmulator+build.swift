import Foundation
import Hummingbird
import ServiceLifecycle
import ServiceRuntime

extension HubEmulator {
    /// Puts the emulator together: one HTTP service, everything else lives in memory behind it.
    ///
    /// - Parameter announce: called with the connection string once clients can connect.
    static func build(
        _ configuration: EmulatorConfiguration, context: ServiceContext,
        announce: @escaping @Sendable (String) -> Void
    ) throws -> [any Service] {
        let service = try makeHTTPService(
            router: makeRouter(configuration, context: context), configuration: configuration.http, context: context
        ) { port in
            announce(configuration.connectionString(listeningOn: port))
        }
        return [service]
    }

    /// All routes of the emulator over fresh state.
    static func makeRouter(
        _ configuration: EmulatorConfiguration, context: ServiceContext
    ) -> Router<EmulatorContext> {
        let feed = EventFeed()
        let hubs = HubDirectory()
        let devices = DeviceRegistry(capacity: EmulatorConfiguration.deviceCapacity, feed: feed)
        let log = RecordLog(capacity: configuration.recordCapacity, feed: feed)
        let faults = FaultTable()
        let gate = makeGate(configuration)

        // The hub's paths are compared without regard to case: clients write /messages and /Messages.
        let router = Router(context: EmulatorContext.self, options: [.caseInsensitive, .autoGenerateHeadEndpoints])
        router.add(middleware: ProblemMiddleware(context: context))
        router.addOperations(readiness: [], context: context)
        PageController().addRoutes(to: router)

        let emulator = router.group("emulator").add(middleware: SameOriginMiddleware())
        RecordController(log: log, devices: devices, feed: feed).addRoutes(to: emulator)
        DeviceController(devices: devices).addRoutes(to: emulator)
        FaultController(faults: faults, feed: feed).addRoutes(to: emulator)

        let hub = router.group(":hub").add(middleware: HubErrorMiddleware())
        SendController(gate: gate, hubs: hubs, devices: devices, log: log, faults: faults).addRoutes(to: hub)
        RegistrationController(gate: gate, hubs: hubs, devices: devices, log: log, faults: faults).addRoutes(to: hub)
        return router
    }

    private static func makeGate(_ configuration: EmulatorConfiguration) -> HubGate {
        let endpoint = configuration.connectionString.endpoint
        let audience = TokenAudience(url: endpoint)
        let authority = URL(string: endpoint).flatMap { url in
            url.host().map { host in url.port.map { "\(host):\($0)" } ?? host }
        }
        return HubGate(
            authorizer: HubAuthorizer(rules: configuration.rules, endpointHost: audience.host),
            scheme: configuration.http.tls == nil ? "http" : "https", endpointAuthority: authority ?? audience.host,
            hubNames: configuration.hubNames)
    }
}
