import Foundations

/// The installations of one hub, and their registrations. A value: callers guard it.
struct InstallationTable: Sendable {
    struct Entry: Sendable {
        var installation: HubInstallation
        /// The ID of each part's registration, by the part's slot.
        var registrationIDs: [String: String]
    }

    /// The effect of a change on registrations.
    struct Effect: Sendable {
        var stored: [RegistrationEntry] = []
        var removed: [RegistrationEntry] = []
    }

    /// The maximum number of installations. Requests bound each to 64 KB.
    static let maxInstallations = 1_000_000

    /// By their IDs in lower case: the service compares IDs without regard to case.
    private var entries: [String: Entry] = [:]
    /// The earliest time at which an installation expires; nil when none does.
    private(set) var nextExpiry: Timestamp?

    var count: Int { entries.count }

    /// The installation with an ID; upper and lower case are equal.
    subscript(_ id: String) -> Entry? { entries[id.lowercased()] }

    /// Stores an installation and updates its registrations, which keep their IDs.
    ///
    /// - Parameter known: the registration IDs of a state file. A new installation takes them over.
    /// - Throws: 403 when the hub is full.
    mutating func put(
        _ installation: HubInstallation, in table: inout RegistrationTable, at time: Timestamp,
        known: [String: String] = [:]
    ) throws(HubError) -> Effect {
        var effect = Effect()
        let key = installation.id.lowercased()
        guard entries[key] != nil || entries.count < Self.maxInstallations else {
            throw HubError.full("A hub has at most \(Self.maxInstallations) installations.")
        }
        let before = entries[key]?.registrationIDs ?? known
        var ids: [String: String] = [:]
        for part in installation.parts {
            let id = before[part.slot] ?? RegistrationID.make()
            let registration = installation.registration(part, id: id, at: time)
            effect.stored.append(try table.put(registration, condition: .none))
            ids[part.slot] = id
        }
        for (slot, id) in before where ids[slot] == nil && table[id] != nil {
            effect.removed.append(try table.remove(id, condition: .any))
        }
        entries[key] = Entry(installation: installation, registrationIDs: ids)
        if let time = installation.expiresAt { nextExpiry = min(nextExpiry ?? time, time) }
        return effect
    }

    /// Removes an installation and its registrations, if it exists.
    mutating func remove(_ id: String, from table: inout RegistrationTable) throws(HubError) -> Effect {
        var effect = Effect()
        guard let entry = entries.removeValue(forKey: id.lowercased()) else { return effect }
        for id in entry.registrationIDs.values where table[id] != nil {
            effect.removed.append(try table.remove(id, condition: .any))
        }
        return effect
    }

    /// The IDs of the expired installations.
    func expired(at time: Timestamp) -> [String] {
        entries.values.filter { ($0.installation.expiresAt ?? time) < time }.map(\.installation.id)
    }

    /// Updates ``nextExpiry``.
    mutating func noteExpired() {
        nextExpiry = entries.values.compactMap(\.installation.expiresAt).min()
    }
}
