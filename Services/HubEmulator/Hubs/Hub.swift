import DequeModule

/// A notification hub: its description and what is registered on it. A value: the directory guards it.
struct Hub: Sendable {
    /// As it was first written.
    var name: String
    var description: HubDescription
    /// Checks tokens under the hub's own rules; a new one for every change of them, so that it remembers no old token.
    private(set) var authorizer: HubAuthorizer?
    var book: RegistrationBook
    private(set) var installations = InstallationBook()
    /// The bulk jobs, the newest first. Not kept over a restart.
    private(set) var jobs: Deque<HubJob> = []
    /// What changed since the directory last asked.
    private(set) var changes: [HubChange] = []

    /// How many jobs are kept; the oldest makes room. Each is bounded by the body of its request, 64 KB.
    static let maxJobs = 100

    /// Whether somebody keeps the changes.
    private let isWatched: Bool

    init(
        name: String, description: HubDescription, endpointHost: String, isWatched: Bool = false,
        journal: StateJournal = .none
    ) {
        self.name = name
        book = RegistrationBook(hubKey: name.lowercased(), journal: journal)
        self.isWatched = isWatched
        self.description = description
        authorizer = description.makeAuthorizer(endpointHost: endpointHost)
    }

    mutating func update(_ description: HubDescription, endpointHost: String) {
        self.description = description
        authorizer = description.makeAuthorizer(endpointHost: endpointHost)
    }

    /// Stores an installation and its registrations.
    mutating func put(
        _ installation: HubInstallation, at time: WireTime = .now, known: [String: String] = [:]
    ) throws(HubError) -> InstallationChange {
        let former = installations[installation.id]?.registrationIDs[""].flatMap { book[$0] }
        let effect = try installations.put(installation, in: &book, at: time, known: known)
        note(installation.id)
        return InstallationChange(
            id: installation.id, platform: installation.platform, formerRegistration: former, effect: effect)
    }

    /// - Returns: nil when there was no such installation.
    mutating func removeInstallation(_ id: String) throws(HubError) -> InstallationChange? {
        guard let found = installations[id]?.installation else { return nil }
        let effect = try installations.remove(id, from: &book)
        note(id)
        return InstallationChange(id: id, platform: found.platform, formerRegistration: nil, effect: effect)
    }

    mutating func add(_ job: HubJob) {
        if jobs.count >= Self.maxJobs { jobs.removeLast() }
        jobs.prepend(job)
    }

    private mutating func note(_ id: String) {
        guard isWatched else { return }
        changes.append(
            HubChange(
                kind: .installation, hubKey: name.lowercased(), key: id.lowercased(),
                value: installations[id]?.stateDocument))
    }

    /// The changes since the last time.
    mutating func takeChanges() -> [HubChange] {
        guard !changes.isEmpty else { return [] }
        defer { changes = [] }
        return changes
    }

    /// Whether an installation has expired that is still here.
    func holdsExpired(at time: WireTime) -> Bool {
        installations.nextExpiry.map { $0 < time } ?? false
    }

    /// Forgets the installations whose time is over.
    mutating func removeExpired(at time: WireTime) throws(HubError) {
        for id in installations.expired(at: time) { _ = try removeInstallation(id) }
        installations.noteExpired()
    }
}

/// What became of the registrations when an installation changed.
struct InstallationChange: Sendable {
    let id: String
    let platform: NotificationFormat
    /// The device's own registration before the change: its handle may have been another.
    let formerRegistration: Registration?
    let effect: InstallationBook.Effect
}
