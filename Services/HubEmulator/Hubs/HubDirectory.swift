import Synchronization

/// The hubs of the namespace and what is registered on each.
final class HubDirectory: Sendable {
    private struct State {
        var hubs: [String: Hub] = [:]
        /// Hubs that a client deleted: they do not come into being again by being used.
        var deleted = RetiredIDs()
    }

    /// How many hubs the namespace holds. Only a client with a good token makes one.
    static let maxHubs = 1000

    /// Whether a name nobody has heard of is a hub: it begins with the first request to it.
    private let isOpen: Bool
    private let endpointHost: String
    /// Where changes of plain registrations go.
    private let journal: StateJournal
    /// Called in the order of the changes, under the directory's lock.
    private let onChange: (@Sendable (HubChange) -> Void)?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - names: the hubs that exist at start; nil when any name is taken.
    ///   - endpointHost: the host of the connection string, for tokens under the hubs' own rules.
    ///   - journal: keeps plain registrations.
    ///   - onChange: keeps changes of hubs and installations; must be quick and must not call back.
    init(
        names: Set<String>? = nil, endpointHost: String = "", journal: StateJournal = .none,
        onChange: (@Sendable (HubChange) -> Void)? = nil
    ) {
        self.journal = journal
        isOpen = names == nil
        self.endpointHost = endpointHost
        self.onChange = onChange
        var state = State()
        for name in names ?? [] {
            state.hubs[name.lowercased()] = Hub(
                name: name, description: HubDescription(), endpointHost: endpointHost, isWatched: onChange != nil,
                journal: journal)
        }
        self.state = Mutex(state)
    }

    /// What a request meets at the door of a hub: whether there is one, and who checks tokens under its own rules.
    func entrance(_ hubKey: String) -> (exists: Bool, authorizer: HubAuthorizer?) {
        state.withLock { state in
            if let hub = state.hubs[hubKey] { return (true, hub.authorizer) }
            return (isOpen && !state.deleted.contains(hubKey), nil)
        }
    }

    /// Works on one hub, alone.
    ///
    /// - Parameter hubKey: the hub's name in lower case.
    /// - Throws: 404 when there is no such hub any more.
    func withHub<Result: Sendable>(
        _ hubKey: String, _ body: (inout Hub) throws(HubError) -> Result
    ) throws(HubError) -> Result {
        try state.withLock { state throws(HubError) in
            if state.hubs[hubKey] == nil {
                guard isOpen, !state.deleted.contains(hubKey) else { throw HubError.unknownHub }
                try Self.checkRoom(state)
                state.hubs[hubKey] = makeHub(hubKey, HubDescription())
            }
            guard let index = state.hubs.index(forKey: hubKey) else { throw HubError.unknownHub }
            let now = WireTime.now
            if state.hubs.values[index].holdsExpired(at: now) { try state.hubs.values[index].removeExpired(at: now) }
            defer { tell(state.hubs.values[index].takeChanges()) }
            return try body(&state.hubs.values[index])
        }
    }

    /// - Throws: 403.
    private static func checkRoom(_ state: State) throws(HubError) {
        guard state.hubs.count < maxHubs else {
            throw HubError.full("The namespace holds \(maxHubs) hubs, no more.")
        }
    }

    private func makeHub(_ name: String, _ description: HubDescription) -> Hub {
        Hub(
            name: name, description: description, endpointHost: endpointHost, isWatched: onChange != nil,
            journal: journal)
    }

    private func tell(_ changes: [HubChange]) {
        guard let onChange else { return }
        for change in changes { onChange(change) }
    }

    private func tell(_ hubKey: String, _ hub: HubSummary?) {
        tell([HubChange(kind: .hub, hubKey: hubKey, key: "", value: hub?.stateDocument)])
    }

    /// Works on the registrations of one hub, alone.
    func withBook<Result: Sendable>(
        _ hubKey: String, _ body: (inout RegistrationBook) throws(HubError) -> Result
    ) throws(HubError) -> Result {
        try withHub(hubKey) { hub throws(HubError) in try body(&hub.book) }
    }

    /// Who a send is for.
    func targets(_ hubKey: String, format: NotificationFormat, expression: TagExpression?) -> [Registration] {
        state.withLock { state in
            let now = WireTime.now
            if state.hubs[hubKey]?.holdsExpired(at: now) == true { try? state.hubs[hubKey]?.removeExpired(at: now) }
            return state.hubs[hubKey]?.book.targets(of: format, expression: expression) ?? []
        }
    }

    // MARK: Hubs themselves

    /// - Throws: 404.
    func hub(_ hubKey: String) throws(HubError) -> HubSummary {
        guard let hub = state.withLock({ $0.hubs[hubKey].map(HubSummary.init) }) else { throw HubError.unknownHub }
        return hub
    }

    /// The hubs in order of their names.
    var all: [HubSummary] {
        state.withLock { $0.hubs.values.map(HubSummary.init) }.sorted { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// Makes a hub. What was registered on a name that only came up through use stays.
    ///
    /// - Throws: 409 when it was described before or at start, 403 when there are too many hubs.
    func create(
        _ name: String, _ description: HubDescription, isRestored: Bool = false
    ) throws(HubError) -> HubSummary {
        try state.withLock { state throws(HubError) in
            let key = name.lowercased()
            if let existing = state.hubs[key], !(isOpen || isRestored) || existing.description.isGiven {
                throw HubError.hubExists
            }
            if state.hubs[key] == nil { try Self.checkRoom(state) }
            let description = description.completed(from: nil)
            var hub = state.hubs[key] ?? makeHub(name, description)
            hub.name = name
            hub.update(description, endpointHost: endpointHost)
            state.hubs[key] = hub
            state.deleted.remove(key)
            tell(key, HubSummary(hub))
            return HubSummary(hub)
        }
    }

    /// - Throws: 404.
    func update(_ hubKey: String, _ description: HubDescription) throws(HubError) -> HubSummary {
        try state.withLock { state throws(HubError) in
            guard var hub = state.hubs[hubKey] else { throw HubError.unknownHub }
            hub.update(description.completed(from: hub.description), endpointHost: endpointHost)
            state.hubs[hubKey] = hub
            tell(hubKey, HubSummary(hub))
            return HubSummary(hub)
        }
    }

    /// Deletes a hub and everything on it.
    ///
    /// - Throws: 404.
    func delete(_ hubKey: String) throws(HubError) -> [Registration] {
        try state.withLock { state throws(HubError) in
            guard let hub = state.hubs.removeValue(forKey: hubKey) else { throw HubError.unknownHub }
            state.deleted.insert(hubKey)
            tell(hubKey, nil)
            return hub.book.page(after: 0, limit: .max) { _ in true }.page
        }
    }
}

extension HubDirectory {
    /// Takes in what an earlier process kept, hubs before installations. Registrations of installations get their IDs
    /// back.
    ///
    /// An installation that cannot be read, or that would not be taken any more, is left out.
    ///
    /// - Throws: 400 for a hub that cannot be read, 409 for one that is there already.
    func restore(_ changes: [HubChange]) throws(HubError) {
        for change in changes where change.kind == .hub {
            guard let value = change.value else { continue }
            _ = try create(Self.title(of: value) ?? change.hubKey, try HubDescription(entry: value), isRestored: true)
        }
        for change in changes where change.kind == .installation {
            guard let value = change.value,
                let entry = try? InstallationBook.Entry(id: change.key, stateDocument: value)
            else { continue }
            _ = try withHub(change.hubKey) { hub throws(HubError) in
                try hub.put(entry.installation, known: entry.registrationIDs)
            }
        }
    }

    private static func title(of entry: [UInt8]) -> String? { try? XMLReader.read(entry).child("title")?.text }
}

/// A hub as its description tells it.
struct HubSummary: Sendable {
    let name: String
    let description: HubDescription

    init(_ hub: Hub) {
        name = hub.name
        description = hub.description
    }
}
