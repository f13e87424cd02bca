/// The installations of one hub and the registrations that they show up as. A value: callers guard it.
struct InstallationBook: Sendable {
    struct Entry: Sendable {
        var installation: HubInstallation
        /// The ID of each part's registration, by the part's slot.
        var registrationIDs: [String: String]
    }

    /// What a change did to registrations.
    struct Effect: Sendable {
        var stored: [Registration] = []
        var removed: [Registration] = []
    }

    /// How many installations a hub holds. Each is bounded by its request, 64 KB.
    static let maxInstallations = 1_000_000

    /// By the ID in lower case: the service compares IDs without regard to case.
    private var entries: [String: Entry] = [:]
    /// The earliest time at which an installation expires; nil when none does.
    private(set) var nextExpiry: WireTime?

    var count: Int { entries.count }

    /// By its ID in any case.
    subscript(_ id: String) -> Entry? { entries[id.lowercased()] }

    /// Stores an installation and brings its registrations in line. A part that stays keeps its registration's ID.
    ///
    /// - Parameter known: IDs from a state file, for parts that have none yet.
    mutating func put(
        _ installation: HubInstallation, in book: inout RegistrationBook, at time: WireTime,
        known: [String: String] = [:]
    ) throws(HubError) -> Effect {
        var effect = Effect()
        let key = installation.id.lowercased()
        guard entries[key] != nil || entries.count < Self.maxInstallations else {
            throw HubError.full("The hub holds \(Self.maxInstallations) installations, no more.")
        }
        let before = entries[key]?.registrationIDs ?? known
        var ids: [String: String] = [:]
        for part in installation.parts {
            let id = before[part.slot] ?? RegistrationID.make()
            let registration = installation.registration(part, id: id, at: time)
            effect.stored.append(try book.put(registration, condition: .none))
            ids[part.slot] = id
        }
        for (slot, id) in before where ids[slot] == nil && book[id] != nil {
            effect.removed.append(try book.remove(id, condition: .any))
        }
        entries[key] = Entry(installation: installation, registrationIDs: ids)
        if let time = installation.expiresAt { nextExpiry = min(nextExpiry ?? time, time) }
        return effect
    }

    /// Removes an installation and its registrations; nothing happens when it is not there.
    mutating func remove(_ id: String, from book: inout RegistrationBook) throws(HubError) -> Effect {
        var effect = Effect()
        guard let entry = entries.removeValue(forKey: id.lowercased()) else { return effect }
        for id in entry.registrationIDs.values where book[id] != nil {
            effect.removed.append(try book.remove(id, condition: .any))
        }
        return effect
    }

    /// The installations that are expired.
    func expired(at time: WireTime) -> [String] {
        entries.values.filter { ($0.installation.expiresAt ?? time) < time }.map(\.installation.id)
    }

    mutating func noteExpired() {
        nextExpiry = entries.values.compactMap(\.installation.expiresAt).min()
    }
}
