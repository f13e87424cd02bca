import Logging

/// The whole state of the emulator, which its routes share.
struct EmulatorState: Sendable {
    let feed = EventFeed()
    let journal: StateJournal
    let hubs: HubDirectory
    let gate: HubGate
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable
    let schedules: ScheduleTable
    let sends: SendProcessor

    /// An empty state, or that of the configured state file; with the faults of the configured scenario.
    ///
    /// - Throws: when the state file or the scenario cannot be used.
    init(_ configuration: EmulatorConfiguration, logger: Logger) throws {
        let file = try configuration.stateFile.map { try StateFile(path: $0, logger: logger) }
        journal = file.map { StateJournal(file: $0) } ?? .none
        hubs = HubDirectory(
            names: configuration.hubNames,
            endpointHost: TokenAudience(url: configuration.connectionString.endpoint).host, journal: journal)
        gate = HubGate(configuration, hubs: hubs)
        devices = DeviceRegistry(capacity: EmulatorConfiguration.deviceCapacity, feed: feed)
        log = RecordLog(capacity: configuration.recordCapacity, maxBytes: configuration.maxRecordBytes, feed: feed)
        faults = FaultTable(defaultSeed: configuration.seed)
        schedules = ScheduleTable(journal: journal)
        sends = SendProcessor(hubs: hubs, devices: devices, log: log, faults: faults, schedules: schedules)
        if let file { try restore(from: file) }
        for fault in try configuration.scenarioFile.map({ try FaultScenario(contentsOf: $0).faults }) ?? [] {
            faults.add(fault)
        }
    }

    /// Lets the faults of an operation happen before it is done.
    ///
    /// - Throws: the error that a fault decides.
    func injectFaults(
        _ operation: Fault.Operation, platform: NotificationFormat? = nil, _ context: EmulatorContext
    ) async throws {
        try await faults.effect(on: operation, platform: platform).inject(context)
    }

    /// Restores the hubs, then registrations, then installations, whose registrations get their IDs again.
    private func restore(from file: StateFile) throws {
        try hubs.restoreHubs(file.changes(.hub))
        let registrations = try file.changes(.registration).compactMap { change in
            change.value.flatMap(StoredRegistration.decode).map { (hub: change.hub, registration: $0) }
        }
        for (hub, registration) in registrations.sorted(by: { $0.registration.sequence < $1.registration.sequence }) {
            _ = try? hubs.withTable(hub) { table throws(HubError) in table.restore(registration) }
        }
        try hubs.restoreInstallations(file.changes(.installation))
        for hub in hubs.all {
            let all = try hubs.withTable(hub.name.lowercased()) { table throws(HubError) in table.page().page }
            for registration in all { devices.noteRegistration(registration, isRegistered: true) }
        }
        for change in try file.changes(.schedule) {
            if let send = change.value.flatMap(StoredSchedule.decode) { schedules.restore(send) }
        }
    }
}
