import DequeModule

/// The registrations of one hub, with the indexes of sends and lists. A value: callers guard it.
///
/// IDs are compared without regard to case, as by the service: all keys are in lower case.
struct RegistrationTable: Sendable {
    /// The maximum number of registrations, including those of installations. Requests bound each to 64 KB.
    static let maxRegistrations = 1_000_000

    private var entries: [String: RegistrationEntry] = [:]
    /// IDs by their place in lists. The places of deleted entries stay until there are more of them than entries.
    private var order: [(sequence: Int, id: String)] = []
    private var lastSequence = 0
    private var byTag: [NotificationFormat: [String: Set<String>]] = [:]
    private var byAudience: [NotificationFormat: Set<String>] = [:]
    /// Deleted IDs, which the hub does not accept again.
    private var retired = RetiredIDs()
    /// The hub's name in lower case.
    private let hubKey: String
    private let journal: StateJournal

    init(hubKey: String = "", journal: StateJournal = .none) {
        self.hubKey = hubKey
        self.journal = journal
    }

    var count: Int { entries.count }

    /// Whether an ID was deleted and cannot be used again.
    func isRetired(_ id: String) -> Bool { self[id] == nil && retired.contains(id.lowercased()) }

    /// By its ID in any case.
    subscript(_ id: String) -> RegistrationEntry? { entries[id.lowercased()] }

    /// Creates or updates a registration; an update increments the version and keeps the place in lists.
    ///
    /// - Returns: the registration as stored.
    /// - Throws: 404 or 412 when the condition does not hold, 403 when the hub is full.
    mutating func put(_ registration: RegistrationEntry, condition: EntityTagCondition) throws(HubError)
        -> RegistrationEntry
    {
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
                throw HubError.full("A hub has at most \(Self.maxRegistrations) registrations.")
            }
            lastSequence += 1
            stored.sequence = lastSequence
            order.append((lastSequence, key))
        }
        entries[key] = stored
        index(stored)
        // The state file keeps those of an installation with it.
        if stored.installationID == nil {
            journal.put(.registration, hub: hubKey, key: key, value: StoredRegistration.encode(stored))
        }
        return stored
    }

    /// Adds a registration that is in the journal already; call it in the order of the sequences.
    mutating func restore(_ registration: RegistrationEntry) {
        lastSequence = max(lastSequence, registration.sequence)
        order.append((registration.sequence, registration.id.lowercased()))
        entries[registration.id.lowercased()] = registration
        index(registration)
    }

    /// - Throws: 404 or 412.
    mutating func remove(_ id: String, condition: EntityTagCondition) throws(HubError) -> RegistrationEntry {
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
    /// - Returns: the page, and whether more registrations follow it.
    func page(
        after sequence: Int = 0, limit: Int = .max, where isIncluded: (RegistrationEntry) -> Bool = { _ in true }
    ) -> (page: [RegistrationEntry], hasMore: Bool) {
        var page: [RegistrationEntry] = []
        for place in order[firstPlace(after: sequence)...] {
            guard let entry = entries[place.id], entry.sequence == place.sequence, isIncluded(entry) else { continue }
            if page.count == limit { return (page, true) }
            page.append(entry)
        }
        return (page, false)
    }

    /// The registrations with a tag, in order of creation.
    func registrations(tagged tag: String) -> [RegistrationEntry] {
        resolve(byTag.values.reduce(into: Set<String>()) { $0.formUnion($1[tag.lowercased()] ?? []) })
    }

    /// The target registrations of a send.
    func targets(of format: NotificationFormat, expression: TagExpression?) -> [RegistrationEntry] {
        guard let expression else { return resolve(byAudience[format] ?? []) }
        if case .tag(let tag) = expression { return resolve(byTag[format]?[tag] ?? []) }
        if let tags = expression.alternatives {
            return resolve(tags.reduce(into: Set<String>()) { $0.formUnion(byTag[format]?[$1] ?? []) })
        }
        return resolve(byAudience[format] ?? []).filter { expression.matches($0.lowercasedTags) }
    }

    private func resolve(_ ids: Set<String>) -> [RegistrationEntry] {
        ids.compactMap { entries[$0] }.sorted { $0.sequence < $1.sequence }
    }

    private func firstPlace(after sequence: Int) -> Int {
        var range = 0..<order.count
        while !range.isEmpty {
            let middle = range.lowerBound + range.count / 2
            range = order[middle].sequence > sequence ? range.lowerBound..<middle : middle + 1..<range.upperBound
        }
        return range.lowerBound
    }

    private mutating func index(_ registration: RegistrationEntry) {
        let key = registration.id.lowercased()
        byAudience[registration.audience, default: []].insert(key)
        for tag in registration.lowercasedTags {
            byTag[registration.audience, default: [:]][tag, default: []].insert(key)
        }
    }

    private mutating func unindex(_ registration: RegistrationEntry) {
        let key = registration.id.lowercased()
        byAudience[registration.audience]?.remove(key)
        for tag in registration.lowercasedTags {
            byTag[registration.audience]?[tag]?.remove(key)
            if byTag[registration.audience]?[tag]?.isEmpty == true { byTag[registration.audience]?[tag] = nil }
        }
    }
}

/// The newest deleted names of registrations or hubs, which a later use does not create again.
struct RetiredIDs: Sendable {
    private static let capacity = 10_000

    private var ids: Set<String> = []
    private var order: Deque<String> = []

    func contains(_ id: String) -> Bool { ids.contains(id) }

    mutating func insert(_ id: String) {
        guard ids.insert(id).inserted else { return }
        order.append(id)
        if order.count > Self.capacity { ids.remove(order.removeFirst()) }
    }

    mutating func remove(_ id: String) {
        guard ids.remove(id) != nil else { return }
        order.removeAll { $0 == id }
    }
}

/// An `If-Match` header in the clients' spellings: `*`, `"*"` (.NET), `"1"`, `W/"1"`, `1`.
enum EntityTagCondition: Equatable, Sendable {
    /// No header: create or update.
    case none
    case any
    case version(Int)
    /// An invalid tag, which no registration matches.
    case never

    init(_ header: String?) {
        guard let header else {
            self = .none
            return
        }
        var tag = header.filter { $0 != " " }[...]
        if tag.hasPrefix("W/") || tag.hasPrefix("w/") { tag = tag.dropFirst(2) }
        let value = tag.filter { $0 != "\"" }
        self = value == "*" ? .any : Int(value).map(Self.version) ?? .never
    }

    func allows(_ version: Int) -> Bool {
        switch self {
        case .none, .any: true
        case .version(let wanted): wanted == version
        case .never: false
        }
    }
}
