import Foundation
import Hummingbird
import ServiceConfiguration
import ServiceLifecycle
import ServiceRuntime

extension HubEmulator {
    /// Puts the emulator together: one HTTP service in front of its state, and what happens without a request.
    ///
    /// - Parameter announce: called with the connection string once clients can connect.
    /// - Throws: ``ConfigurationError`` when the state file or the scenario cannot be used.
    static func build(
        _ configuration: EmulatorConfiguration, context: ServiceContext,
        announce: @escaping @Sendable (String) -> Void
    ) throws -> [any Service] {
        let state: EmulatorState
        do {
            state = try EmulatorState(configuration, logger: context.logger)
        } catch let error as FaultScenario.Refusal {
            throw ConfigurationError(EmulatorConfiguration.scenarioKey.name, "cannot be used: \(error)")
        } catch {
            throw ConfigurationError(EmulatorConfiguration.stateKey.name, "cannot be used: \(error)")
        }
        let router = makeRouter(configuration, state: state, context: context)
        let service = try makeHTTPService(
            router: router, configuration: configuration.http, context: context,
            onListening: { announce(configuration.connectionString(listeningOn: $0)) })
        return [
            StateService(journal: state.journal),
            ScheduleService(schedules: state.schedules, intake: state.intake),
            service,
        ]
    }

    /// All routes of the emulator over fresh state.
    static func makeRouter(
        _ configuration: EmulatorConfiguration, context: ServiceContext
    ) throws -> Router<EmulatorContext> {
        try makeRouter(
            configuration, state: EmulatorState(configuration, logger: context.logger), context: context)
    }

    /// All routes of the emulator.
    static func makeRouter(
        _ configuration: EmulatorConfiguration, state: EmulatorState, context: ServiceContext
    ) -> Router<EmulatorContext> {
        let gate = makeGate(configuration, hubs: state.hubs)

        // The hub's paths are compared without regard to case: clients write /messages and /Messages.
        let router = Router(context: EmulatorContext.self, options: [.caseInsensitive, .autoGenerateHeadEndpoints])
        let paths = HubPaths()
        router.add(middleware: HubPathMiddleware(paths: paths))
        router.add(middleware: ProblemMiddleware(context: context))
        router.add(middleware: ContinueMiddleware())
        router.addOperations(readiness: [], context: context)

        let hosts = configuration.hostAllowList
        let emulator = router.group("emulator")
            .add(middleware: HostMiddleware(hosts: hosts)).add(middleware: SameOriginMiddleware())
        RecordController(log: state.log, devices: state.devices, feed: state.feed).addRoutes(to: emulator)
        DeviceController(devices: state.devices).addRoutes(to: emulator)
        FaultController(faults: state.faults, feed: state.feed).addRoutes(to: emulator)

        let hub = router.group(":hub").add(middleware: HubErrorMiddleware())
        SendController(gate: gate, intake: state.intake).addRoutes(to: hub)
        BatchController(gate: gate, intake: state.intake).addRoutes(to: hub)
        ScheduleController(gate: gate, intake: state.intake).addRoutes(to: hub)
        RegistrationController(
            gate: gate, hubs: state.hubs, devices: state.devices, log: state.log, faults: state.faults
        ).addRoutes(to: hub)
        let administration = addResources(to: router, hub: hub, emulator: emulator, state: state, gate: gate)
        PageController(hosts: hosts, administration: administration).addRoutes(to: router)
        paths.set(router)
        return router
    }

    /// Installations, telemetry, feedback, jobs and the hubs themselves.
    ///
    /// - Returns: the controller of the hubs, which shares the root with the page.
    private static func addResources(
        to router: Router<EmulatorContext>, hub: RouterGroup<EmulatorContext>,
        emulator: RouterGroup<EmulatorContext>, state: EmulatorState, gate: HubGate
    ) -> HubController {
        InstallationController(
            gate: gate, hubs: state.hubs, devices: state.devices, log: state.log, faults: state.faults
        ).addRoutes(to: hub)
        TelemetryController(gate: gate, telemetry: state.log, faults: state.faults).addRoutes(to: hub)
        let feedback = FeedbackController(gate: gate, feedback: state.log)
        feedback.addRoutes(to: hub)
        feedback.addContainerRoutes(to: emulator)
        HubJobController(gate: gate, hubs: state.hubs, faults: state.faults).addRoutes(to: hub)
        let administration = HubController(
            gate: gate, hubs: state.hubs, devices: state.devices, faults: state.faults)
        administration.addRoutes(to: hub)
        for spelling in ["$Resources", "%24Resources"] {
            let resources = router.group("\(spelling)").add(middleware: HubErrorMiddleware())
            administration.addListRoute(to: resources)
        }
        return administration
    }

    static func makeGate(_ configuration: EmulatorConfiguration, hubs: HubDirectory) -> HubGate {
        let endpoint = configuration.connectionString.endpoint
        let audience = TokenAudience(url: endpoint)
        let authority = URL(string: endpoint).flatMap { url in
            url.host().map { host in url.port.map { "\(host):\($0)" } ?? host }
        }
        return HubGate(
            authorizer: HubAuthorizer(rules: configuration.rules, endpointHost: audience.host),
            scheme: configuration.locationScheme, endpointAuthority: authority ?? audience.host,
            hubs: hubs)
    }
}
