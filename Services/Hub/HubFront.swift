import Hummingbird
import ServiceRuntime

/// The routes of a hub: the REST API of Azure Notification Hubs, and besides it the page and the API of the simulated
/// devices.
struct HubFront: Sendable {
    /// The host names of the page and its API.
    var hosts: HostAllowList
    var connection: ConnectionController
    /// The folder of a web app that is served; nil: none.
    var webAppFolder: String?
    /// Whether clients of the REST API make and remove hubs.
    var isManaged: Bool
    /// Hides the page and its API from clients; nil: all clients may use them.
    var simulation: SimulationMiddleware?
    var readiness: [ReadinessCheck] = []
    var details: [ReadinessDetail] = []

    func makeRouter(_ state: EmulatorState, context: ServiceContext) -> Router<EmulatorContext> {
        // The hub compares paths without regard to case: clients write /messages and /Messages.
        let router = Router(context: EmulatorContext.self, options: [.caseInsensitive, .autoGenerateHeadEndpoints])
        let paths = HubPaths()
        router.add(middleware: HubPathMiddleware(paths: paths))
        router.add(middleware: ProblemMiddleware(context: context))
        router.addOperations(readiness: readiness, details: details, context: context)

        let emulator = router.group("emulator")
        if let simulation { emulator.add(middleware: simulation) }
        emulator.add(middleware: OwnAPIMiddleware(hosts: hosts))
        RecordController(log: state.log, devices: state.devices, feed: state.feed).addRoutes(to: emulator)
        DeviceController(devices: state.devices).addRoutes(to: emulator)
        FaultController(faults: state.faults, feed: state.feed).addRoutes(to: emulator)
        connection.addRoutes(to: emulator)
        if let webAppFolder { WebAppController(folder: webAppFolder).addRoutes(to: emulator) }

        let hub = router.group(":hub").add(middleware: HubErrorMiddleware())
        SendController(state: state).addRoutes(to: hub)
        RegistrationController(state: state).addRoutes(to: hub)
        InstallationController(state: state).addRoutes(to: hub)
        TelemetryController(state: state).addRoutes(to: hub)
        FeedbackController(state: state).addRoutes(to: hub)
        HubJobController(state: state).addRoutes(to: hub)
        let hubs = HubController(state: state)
        hubs.addRoutes(to: hub, isManaged: isManaged)
        for spelling in ["$Resources", "%24Resources"] {
            hubs.addListRoute(to: router.group("\(spelling)").add(middleware: HubErrorMiddleware()))
        }
        let page = PageController(hosts: hosts, hubs: hubs) { simulation?.allows($0, $1) ?? true }
        page.addFiles(to: emulator)
        page.addRoutes(to: router)
        paths.set(router)
        return router
    }
}

extension HubFront {
    /// That of `hub-emulator`.
    init(_ configuration: EmulatorConfiguration, hubs: HubDirectory) {
        self.init(
            hosts: configuration.hostAllowList,
            connection: ConnectionController(
                connectionString: { configuration.connectionString(listeningOn: $0) },
                hubNames: configuration.hubNames, showsKey: true, hubs: hubs),
            webAppFolder: configuration.webAppFolder, isManaged: true)
    }

    /// That of `hub`.
    ///
    /// - Parameter isSimulated: whether a platform of any hub is simulated now.
    init(_ configuration: HubServiceConfiguration, hubs: HubDirectory, isSimulated: @escaping @Sendable () -> Bool) {
        let http = configuration.http
        self.init(
            hosts: HostAllowList(
                listeningHost: http.host, allowed: configuration.simulationClients.hosts,
                setting: HubServiceConfiguration.allowSetting),
            connection: ConnectionController(
                connectionString: { port in
                    let scheme = http.tls == nil ? "http" : "https"
                    return "Endpoint=\(scheme)://\(http.host):\(port)/;SharedAccessKeyName=...;SharedAccessKey=..."
                }, hubNames: [], showsKey: false, hubs: hubs),
            webAppFolder: configuration.webAppFolder, isManaged: false,
            simulation: SimulationMiddleware(clients: configuration.simulationClients, isSimulated: isSimulated))
    }
}
