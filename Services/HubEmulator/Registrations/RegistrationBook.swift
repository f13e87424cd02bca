/// The registrations of one hub, with the indexes that sends and listings need. A value: callers guard it.
///
/// IDs are compared without regard to case, as the service does: all keys here are in lower case.
struct RegistrationBook: Sendable {
    /// How many registrations a hub holds, those of installations included. Each is bounded by its request, 64 KB.
    static let maxRegistrations = 1_000_000

    private var entries: [String: Registration] = [:]
    /// IDs by place in listings. Places of deleted entries stay behind until there are more of them than entries.
    private var order: [(sequence: Int, id: String)] = []
    private var lastSequence = 0
    private var byTag: [NotificationFormat: [String: Set<String>]] = [:]
    private var byAudience: [NotificationFormat: Set<String>] = [:]

    /// IDs that were deleted, which the hub does not take again; the oldest are forgotten.
    private var retired = RetiredIDs()

    /// The hub's name in lower case, and where its changes go.
    private let hubKey: String
    private let journal: StateJournal

    init(hubKey: String = "", journal: StateJournal = .none) {
        self.hubKey = hubKey
        self.journal = journal
    }

    var count: Int { entries.count }

    /// Whether an ID was in use and may not be used again.
    func isRetired(_ id: String) -> Bool { self[id] == nil && retired.contains(id.lowercased()) }

    /// By its ID in any case.
    subscript(_ id: String) -> Registration? { entries[id.lowercased()] }

    /// Creates or updates a registration; the version and the place in listings go on from an earlier one.
    ///
    /// - Returns: the registration as stored.
    /// - Throws: 404 or 412 when the condition does not hold, 403 when the hub is full.
    mutating func put(_ registration: Registration, condition: EntityTagCondition) throws(HubError) -> Registration {
        var stored = registration
        let key = registration.id.lowercased()
        if let existing = entries[key] {
            guard condition.allows(existing.version) else { throw HubError.entityTagMismatch }
            unindex(existing)
            stored.version = existing.version + 1
            stored.sequence = existing.sequence
        } else {
            guard condition == .none else { throw HubError.unknownRegistration }
            guard entries.count < Self.maxRegistrations else {
                throw HubError.full("The hub holds \(Self.maxRegistrations) registrations, no more.")
            }
            lastSequence += 1
            stored.sequence = lastSequence
            order.append((lastSequence, key))
        }
        entries[key] = stored
        index(stored)
        // Those of an installation come back with it.
        if stored.installationID == nil {
            journal.put(.registration, hub: hubKey, key: key, value: StoredRegistration.encode(stored))
        }
        return stored
    }

    /// Takes a registration that is in the journal already; they come in order of their sequence.
    mutating func restore(_ registration: Registration) {
        lastSequence = max(lastSequence, registration.sequence)
        order.append((registration.sequence, registration.id.lowercased()))
        entries[registration.id.lowercased()] = registration
        index(registration)
    }

    /// - Throws: 404 or 412.
    mutating func remove(_ id: String, condition: EntityTagCondition) throws(HubError) -> Registration {
        let key = id.lowercased()
        guard let existing = entries[key] else { throw HubError.unknownRegistration }
        guard condition.allows(existing.version) else { throw HubError.entityTagMismatch }
        unindex(existing)
        entries[key] = nil
        retired.insert(key)
        journal.remove(.registration, hub: hubKey, key: key)
        if order.count > 2 * entries.count + 64 {
            order.removeAll { entries[$0.id]?.sequence != $0.sequence }
        }
        return existing
    }

    /// A page of the registrations in order of creation.
    ///
    /// - Returns: the page, and whether there is more behind it.
    func page(
        after sequence: Int, limit: Int, where isIncluded: (Registration) -> Bool
    ) -> (page: [Registration], more: Bool) {
        var page: [Registration] = []
        for place in order[firstPlace(after: sequence)...] {
            guard let entry = entries[place.id], entry.sequence == place.sequence, isIncluded(entry) else { continue }
            if page.count == limit { return (page, true) }
            page.append(entry)
        }
        return (page, false)
    }

    /// The registrations with a tag, in order of creation.
    func registrations(tagged tag: String) -> [Registration] {
        let ids = byTag.values.reduce(into: Set<String>()) { $0.formUnion($1[tag.lowercased()] ?? []) }
        return ids.compactMap { entries[$0] }.sorted { $0.sequence < $1.sequence }
    }

    /// Who a send is for.
    func targets(of format: NotificationFormat, expression: TagExpression?) -> [Registration] {
        guard let expression else { return resolve(byAudience[format] ?? []) }
        if case .tag(let tag) = expression { return resolve(byTag[format]?[tag] ?? []) }
        if let tags = expression.alternatives {
            return resolve(tags.reduce(into: Set<String>()) { $0.formUnion(byTag[format]?[$1] ?? []) })
        }
        return resolve(byAudience[format] ?? []).filter { expression.matches($0.lowercasedTags) }
    }

    private func resolve(_ ids: Set<String>) -> [Registration] {
        ids.count < 2
            ? ids.compactMap { entries[$0] }
            : ids.compactMap { entries[$0] }.sorted { $0.sequence < $1.sequence }
    }

    private func firstPlace(after sequence: Int) -> Int {
        var range = 0..<order.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = order[middle].sequence > sequence ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }

    private mutating func index(_ registration: Registration) {
        let key = registration.id.lowercased()
        byAudience[registration.audience, default: []].insert(key)
        for tag in registration.lowercasedTags {
            byTag[registration.audience, default: [:]][tag, default: []].insert(key)
        }
    }

    private mutating func unindex(_ registration: Registration) {
        let key = registration.id.lowercased()
        byAudience[registration.audience]?.remove(key)
        for tag in registration.lowercasedTags {
            byTag[registration.audience]?[tag]?.remove(key)
            if byTag[registration.audience]?[tag]?.isEmpty == true { byTag[registration.audience]?[tag] = nil }
        }
    }
}
