import Domain
import Logging
import ServiceLifecycle
import Storage
import Tracing

/// The whole state of a hub, which its routes share.
struct EmulatorState: Sendable {
    let feed: EventFeed
    let store: OpenedHubTables
    let hubs: HubDirectory
    let gate: HubGate
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable
    let schedules: ScheduleTable
    let delivery: HubDelivery
    let sends: SendProcessor
    /// Whether answers to sends have `SecurePush-Outcome`. Azure, which the emulator simulates, has no such header.
    let tellsOutcomes: Bool

    /// The state of `hub-emulator` on the tables of a store; with the faults of the configured scenario.
    ///
    /// - Parameters:
    ///   - pushers: the pushers of all platforms.
    ///   - tellsOutcomes: see the property.
    /// - Throws: when the scenario cannot be used.
    init(
        _ configuration: EmulatorConfiguration, store: OpenedHubTables, pushers: PlatformPushers = .simulated,
        delivery settings: DeliverySettings = .init(), tellsOutcomes: Bool = false, tracer: (any Tracer)? = nil,
        logger: Logger = Logger(label: "securepush.hub")
    ) throws {
        let hubs = HubDirectory(
            store.tables, names: configuration.hubNames.map { .only($0) } ?? .any,
            endpointHost: TokenAudience(url: configuration.connectionString.endpoint).host)
        let feed = EventFeed()
        self.init(
            store: store, hubs: hubs, gate: HubGate(configuration, hubs: hubs),
            lanes: PushLanes(pushers, settings: settings, logger: logger), settings: settings, feed: feed,
            log: RecordLog(
                capacity: configuration.recordCapacity, maxBytes: configuration.maxRecordBytes, feed: feed),
            faults: FaultTable(defaultSeed: configuration.seed), tellsOutcomes: tellsOutcomes, tracer: tracer,
            logger: logger)
        for fault in try configuration.scenarioFile.map({ try FaultScenario(contentsOf: $0).faults }) ?? [] {
            faults.add(fault)
        }
    }

    /// The state of `hub`, whose hubs are those of the file of rules.
    init(
        _ configuration: HubServiceConfiguration, store: OpenedHubTables, access: HubAccessFile, lanes: PushLanes,
        tracer: (any Tracer)? = nil, logger: Logger
    ) {
        let feed = EventFeed()
        // The page needs no token: it shows nothing of real devices.
        let log = RecordLog(capacity: 10_000, feed: feed) { record in
            let hubKey = record.hub.lowercased()
            guard let format = record.format, format != .template else {
                return lanes.isTrial(hubKey) && !lanes.isReal(hubKey, .template)
            }
            return lanes.isSimulated(hubKey, format) || lanes.isTrial(hubKey) && record.isOfTrial
        }
        self.init(
            store: store, hubs: HubDirectory(store.tables, names: .decidedElsewhere { access.current.hubs }),
            gate: HubGate(configuration, access: access), lanes: lanes, settings: configuration.delivery, feed: feed,
            log: log, faults: FaultTable(defaultSeed: nil), tellsOutcomes: true, tracer: tracer, logger: logger)
    }

    private init(
        store: OpenedHubTables, hubs: HubDirectory, gate: HubGate, lanes: PushLanes, settings: DeliverySettings,
        feed: EventFeed, log: RecordLog, faults: FaultTable, tellsOutcomes: Bool, tracer: (any Tracer)?,
        logger: Logger
    ) {
        (self.store, self.hubs, self.gate) = (store, hubs, gate)
        (self.feed, self.log, self.faults, self.tellsOutcomes) = (feed, log, faults, tellsOutcomes)
        devices = DeviceRegistry(capacity: EmulatorConfiguration.deviceCapacity, feed: feed)
        schedules = ScheduleTable(store.tables, logger: logger)
        delivery = HubDelivery(
            lanes: lanes, tables: store.tables, settings: settings, isVolatile: store.kind == .memory, tracer: tracer,
            logger: logger
        ) { [devices] push in devices.deliver(push) }
        sends = SendProcessor(
            hubs: hubs, devices: devices, log: log, faults: faults, schedules: schedules, delivery: delivery)
    }

    /// The lanes of all platforms and hubs.
    var lanes: PushLanes { delivery.lanes }

    /// Applies the faults of an operation before it is carried out.
    ///
    /// - Throws: the error that a fault decides.
    func injectFaults(
        _ operation: Fault.Operation, platform: NotificationFormat? = nil, _ context: EmulatorContext
    ) async throws {
        try await faults.effect(on: operation, platform: platform).inject(context)
    }

    /// Shows a change on the page, which needs no token, if the device is a simulated one.
    func noteRegistration(_ registration: RegistrationEntry, isRegistered: Bool, hub hubKey: String) {
        guard lanes.isSimulated(registration, hub: hubKey) else { return }
        devices.noteRegistration(registration, isRegistered: isRegistered)
    }

    /// A service that begins when the store serves and the hubs are known.
    func following(_ service: any Service) -> any Service {
        store.following(HubsService(hubs: hubs, service: service))
    }
}

/// Reads the hubs, and then runs a service.
private struct HubsService: Service {
    let hubs: HubDirectory
    let service: any Service

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                do { return try await hubs.load() } catch let error as StorageError where error.isRetriable {
                    try? await Task.sleep(for: .milliseconds(200))
                }
            }
        }
        // Also after a shutdown: it ends by itself.
        try await service.run()
    }
}
