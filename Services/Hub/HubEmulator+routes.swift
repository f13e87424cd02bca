import Hummingbird
import ServiceRuntime

extension HubEmulatorService {
    static func makeRouter(
        _ configuration: EmulatorConfiguration, state: EmulatorState, context: ServiceContext
    ) -> Router<EmulatorContext> {
        // The hub compares paths without regard to case: clients write /messages and /Messages.
        let router = Router(context: EmulatorContext.self, options: [.caseInsensitive, .autoGenerateHeadEndpoints])
        let paths = HubPaths()
        router.add(middleware: HubPathMiddleware(paths: paths))
        router.add(middleware: ProblemMiddleware(context: context))
        router.addOperations(readiness: [], context: context)

        let hosts = configuration.hostAllowList
        let emulator = router.group("emulator").add(middleware: OwnAPIMiddleware(hosts: hosts))
        RecordController(log: state.log, devices: state.devices, feed: state.feed).addRoutes(to: emulator)
        DeviceController(devices: state.devices).addRoutes(to: emulator)
        FaultController(faults: state.faults, feed: state.feed).addRoutes(to: emulator)
        ConnectionController(configuration: configuration, hubs: state.hubs).addRoutes(to: emulator)
        if let folder = configuration.webAppFolder { WebAppController(folder: folder).addRoutes(to: emulator) }

        let hub = router.group(":hub").add(middleware: HubErrorMiddleware())
        SendController(state: state).addRoutes(to: hub)
        RegistrationController(state: state).addRoutes(to: hub)
        InstallationController(state: state).addRoutes(to: hub)
        TelemetryController(state: state).addRoutes(to: hub)
        FeedbackController(state: state).addRoutes(to: hub)
        HubJobController(state: state).addRoutes(to: hub)
        let hubs = HubController(state: state)
        hubs.addRoutes(to: hub)
        for spelling in ["$Resources", "%24Resources"] {
            hubs.addListRoute(to: router.group("\(spelling)").add(middleware: HubErrorMiddleware()))
        }
        let page = PageController(hosts: hosts, hubs: hubs)
        page.addFiles(to: emulator)
        page.addRoutes(to: router)
        paths.set(router)
        return router
    }
}
