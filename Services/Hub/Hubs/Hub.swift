import DequeModule
import Foundations

/// A notification hub: its description and its registrations. A value: the directory guards it.
struct Hub: Sendable {
    /// As first written.
    var name: String
    private(set) var description: HubDescription
    /// Checks tokens under the hub's own rules. Each change of the rules makes a new one, which knows no old tokens.
    private(set) var authorizer: HubAuthorizer?
    var table: RegistrationTable
    private(set) var installations = InstallationTable()
    /// The bulk jobs, the newest first. They are not kept over a restart.
    private(set) var jobs: Deque<HubJob> = []

    /// The maximum number of jobs; the oldest are dropped first. Requests bound each to 64 KB.
    static let maxJobs = 100

    /// The name in lower case.
    private var key: String { name.lowercased() }
    private let journal: StateJournal

    init(name: String, description: HubDescription, endpointHost: String, journal: StateJournal = .none) {
        self.name = name
        self.journal = journal
        table = RegistrationTable(hubKey: name.lowercased(), journal: journal)
        self.description = description
        authorizer = description.makeAuthorizer(endpointHost: endpointHost)
    }

    mutating func update(_ description: HubDescription, endpointHost: String) {
        self.description = description
        authorizer = description.makeAuthorizer(endpointHost: endpointHost)
    }

    /// Stores an installation and its registrations.
    mutating func put(
        _ installation: HubInstallation, at time: Timestamp = .now, known: [String: String] = [:]
    ) throws(HubError) -> InstallationChange {
        let former = installations[installation.id]?.registrationIDs[""].flatMap { table[$0] }
        let effect = try installations.put(installation, in: &table, at: time, known: known)
        if let entry = installations[installation.id] {
            journal.put(.installation, hub: key, key: installation.id.lowercased(), value: entry.stateDocument)
        }
        return InstallationChange(
            id: installation.id, platform: installation.platform, formerRegistration: former, effect: effect)
    }

    /// - Returns: nil when there was no such installation.
    mutating func removeInstallation(_ id: String) throws(HubError) -> InstallationChange? {
        guard let found = installations[id]?.installation else { return nil }
        let effect = try installations.remove(id, from: &table)
        journal.remove(.installation, hub: key, key: id.lowercased())
        return InstallationChange(id: id, platform: found.platform, formerRegistration: nil, effect: effect)
    }

    mutating func add(_ job: HubJob) {
        if jobs.count >= Self.maxJobs { jobs.removeLast() }
        jobs.prepend(job)
    }

    /// Removes the expired installations.
    mutating func removeExpired(at time: Timestamp) throws(HubError) {
        guard let next = installations.nextExpiry, next < time else { return }
        for id in installations.expired(at: time) { _ = try removeInstallation(id) }
        installations.noteExpired()
    }
}

/// The effect of a change of an installation on its registrations.
struct InstallationChange: Sendable {
    let id: String
    let platform: NotificationFormat
    /// The device's own registration before the change, which may have had another handle.
    let formerRegistration: RegistrationEntry?
    let effect: InstallationTable.Effect
}
