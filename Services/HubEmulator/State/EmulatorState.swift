import Logging

/// Everything that the emulator knows, behind its routes.
struct EmulatorState: Sendable {
    let feed = EventFeed()
    let journal: StateJournal
    let hubs: HubDirectory
    let devices: DeviceRegistry
    let log: RecordLog
    let faults: FaultTable
    let schedules: ScheduleBook
    let intake: NotificationIntake

    /// Fresh state, or what the configuration's state file holds; with the faults of the configured scenario.
    ///
    /// - Throws: when the state file or the scenario cannot be used.
    init(_ configuration: EmulatorConfiguration, logger: Logger) throws {
        let file = try configuration.stateFile.map { try StateFile(path: $0, logger: logger) }
        let journal = file.map { StateJournal(file: $0) } ?? .none
        self.journal = journal
        let keep: @Sendable (HubChange) -> Void = { journal.keep($0) }
        hubs = HubDirectory(
            names: configuration.hubNames,
            endpointHost: TokenAudience(url: configuration.connectionString.endpoint).host, journal: journal,
            onChange: file == nil ? nil : keep)
        devices = DeviceRegistry(capacity: EmulatorConfiguration.deviceCapacity, feed: feed)
        log = RecordLog(
            capacity: configuration.recordCapacity, maximumBytes: configuration.maximumRecordBytes, feed: feed)
        faults = FaultTable(defaultSeed: configuration.seed)
        schedules = ScheduleBook(journal: journal)
        intake = NotificationIntake(hubs: hubs, devices: devices, log: log, faults: faults, schedules: schedules)
        if let file { try restore(from: file) }
        for fault in try configuration.scenarioFile.map({ try FaultScenario(contentsOf: $0).faults }) ?? [] {
            faults.add(fault)
        }
    }

    /// Hubs first, then what is registered on them, then installations, whose registrations get their IDs back.
    private func restore(from file: StateFile) throws {
        try hubs.restore(changes(.hub, as: .hub, in: file))
        var registrations: [(hub: String, registration: Registration)] = []
        try file.forEach(.registration) { hub, _, value in
            if let registration = StoredRegistration.decode(value) { registrations.append((hub, registration)) }
        }
        for (hub, registration) in registrations.sorted(by: { $0.registration.sequence < $1.registration.sequence }) {
            _ = try? hubs.withBook(hub) { book throws(HubError) in book.restore(registration) }
        }
        try hubs.restore(changes(.installation, as: .installation, in: file))
        for hub in hubs.all { noteDevices(of: hub.name.lowercased()) }
        try file.forEach(.schedule) { _, _, value in
            if let send = StoredSchedule.decode(value) { schedules.restore(send) }
        }
    }

    private func changes(
        _ kind: StateChange.Kind, as hubKind: HubChange.Kind, in file: StateFile
    ) throws -> [HubChange] {
        var changes: [HubChange] = []
        try file.forEach(kind) { hub, key, value in
            changes.append(HubChange(kind: hubKind, hubKey: hub, key: key, value: value))
        }
        return changes
    }

    private func noteDevices(of hubKey: String) {
        let all = try? hubs.withBook(hubKey) { book throws(HubError) in
            book.page(after: 0, limit: .max) { _ in true }.page
        }
        for registration in all ?? [] { devices.noteRegistration(registration, isRegistered: true) }
    }
}

extension StateJournal {
    /// Keeps a change that the directory of hubs tells of.
    fileprivate func keep(_ change: HubChange) {
        let kind: StateChange.Kind = change.kind == .hub ? .hub : .installation
        if let value = change.value {
            put(kind, hub: change.hubKey, key: change.key, value: value)
        } else {
            remove(kind, hub: change.hubKey, key: change.key)
        }
    }
}
