import Foundations
import Synchronization

/// The hubs of the namespace.
final class HubDirectory: Sendable {
    private struct State {
        var hubs: [String: Hub] = [:]
        /// Hubs that a client deleted, which a later use does not create again.
        var deleted = RetiredIDs()
    }

    /// The maximum number of hubs. Only a client with a valid token can create one.
    static let maxHubs = 1000

    /// Whether a request to an unknown name creates a hub.
    private let isOpen: Bool
    private let endpointHost: String
    private let journal: StateJournal
    private let state: Mutex<State>

    /// - Parameters:
    ///   - names: the hubs that exist at start; nil when every name is a hub.
    ///   - endpointHost: the host of the connection string, for tokens under the hubs' own rules.
    ///   - journal: keeps all changes.
    init(names: Set<String>? = nil, endpointHost: String = "", journal: StateJournal = .none) {
        self.journal = journal
        isOpen = names == nil
        self.endpointHost = endpointHost
        var state = State()
        for name in names ?? [] {
            state.hubs[name.lowercased()] = Hub(
                name: name, description: HubDescription(), endpointHost: endpointHost, journal: journal)
        }
        self.state = Mutex(state)
    }

    /// Whether a hub exists, and what checks tokens under its own rules.
    func entrance(_ hubKey: String) -> (exists: Bool, authorizer: HubAuthorizer?) {
        state.withLock { state in
            if let hub = state.hubs[hubKey] { return (true, hub.authorizer) }
            return (isOpen && !state.deleted.contains(hubKey), nil)
        }
    }

    /// Calls a closure with exclusive access to one hub.
    ///
    /// - Parameter hubKey: the hub's name in lower case.
    /// - Throws: 404 when the hub was deleted, 403 when there are too many hubs.
    func withHub<Result: Sendable>(
        _ hubKey: String, _ body: (inout Hub) throws(HubError) -> Result
    ) throws(HubError) -> Result {
        try state.withLock { state throws(HubError) in
            if state.hubs[hubKey] == nil {
                guard isOpen, !state.deleted.contains(hubKey) else { throw HubError.unknownHub }
                try Self.checkCapacity(state)
                state.hubs[hubKey] = makeHub(hubKey, HubDescription())
            }
            guard let index = state.hubs.index(forKey: hubKey) else { throw HubError.unknownHub }
            try state.hubs.values[index].removeExpired(at: .now)
            return try body(&state.hubs.values[index])
        }
    }

    /// - Throws: 403.
    private static func checkCapacity(_ state: State) throws(HubError) {
        guard state.hubs.count < maxHubs else {
            throw HubError.full("A namespace has at most \(maxHubs) hubs.")
        }
    }

    private func makeHub(_ name: String, _ description: HubDescription) -> Hub {
        Hub(name: name, description: description, endpointHost: endpointHost, journal: journal)
    }

    /// Calls a closure with exclusive access to the registrations of one hub.
    func withTable<Result: Sendable>(
        _ hubKey: String, _ body: (inout RegistrationTable) throws(HubError) -> Result
    ) throws(HubError) -> Result {
        try withHub(hubKey) { hub throws(HubError) in try body(&hub.table) }
    }

    /// The target registrations of a send.
    func targets(_ hubKey: String, format: NotificationFormat, expression: TagExpression?) -> [RegistrationEntry] {
        state.withLock { state in
            try? state.hubs[hubKey]?.removeExpired(at: .now)
            return state.hubs[hubKey]?.table.targets(of: format, expression: expression) ?? []
        }
    }

    // MARK: Descriptions

    /// Nil when there is none.
    func hub(_ hubKey: String) -> HubSummary? { state.withLock { $0.hubs[hubKey].map(HubSummary.init) } }

    /// The hubs in order of their names.
    var all: [HubSummary] {
        state.withLock { $0.hubs.values.map(HubSummary.init) }.sorted { $0.name.lowercased() < $1.name.lowercased() }
    }

    /// Creates a hub, or describes one that was created by use, which keeps its registrations.
    ///
    /// - Throws: 409 for a described or configured hub, 403 when there are too many hubs.
    func create(
        _ name: String, _ description: HubDescription, isRestored: Bool = false
    ) throws(HubError) -> HubSummary {
        try state.withLock { state throws(HubError) in
            let key = name.lowercased()
            if let existing = state.hubs[key], !(isOpen || isRestored) || existing.description.isGiven {
                throw HubError.hubExists
            }
            if state.hubs[key] == nil { try Self.checkCapacity(state) }
            let description = description.completed(from: nil)
            var hub = state.hubs[key] ?? makeHub(name, description)
            hub.name = name
            hub.update(description, endpointHost: endpointHost)
            state.hubs[key] = hub
            state.deleted.remove(key)
            keep(HubSummary(hub))
            return HubSummary(hub)
        }
    }

    /// - Throws: 404.
    func update(_ hubKey: String, _ description: HubDescription) throws(HubError) -> HubSummary {
        try state.withLock { state throws(HubError) in
            guard var hub = state.hubs[hubKey] else { throw HubError.unknownHub }
            hub.update(description.completed(from: hub.description), endpointHost: endpointHost)
            state.hubs[hubKey] = hub
            keep(HubSummary(hub))
            return HubSummary(hub)
        }
    }

    /// Deletes a hub and all its registrations.
    ///
    /// - Returns: the registrations.
    /// - Throws: 404.
    func delete(_ hubKey: String) throws(HubError) -> [RegistrationEntry] {
        try state.withLock { state throws(HubError) in
            guard let hub = state.hubs.removeValue(forKey: hubKey) else { throw HubError.unknownHub }
            state.deleted.insert(hubKey)
            journal.remove(.hub, hub: hubKey, key: "")
            return hub.table.page().page
        }
    }

    private func keep(_ hub: HubSummary) {
        journal.put(
            .hub, hub: hub.name.lowercased(), key: "", value: Array(hub.entry(url: "", namespace: "").text.utf8))
    }

    // MARK: State

    /// Restores the hubs of a state file.
    ///
    /// - Throws: 400 for a hub that cannot be read, 409 for one that exists already.
    func restoreHubs(_ changes: [StateChange]) throws(HubError) {
        for change in changes {
            guard let value = change.value else { continue }
            _ = try create(Self.title(of: value) ?? change.hub, try HubDescription(entry: value), isRestored: true)
        }
    }

    /// Restores the installations of a state file, after the hubs. Their registrations get their IDs again.
    ///
    /// An installation that is unreadable or invalid is dropped.
    func restoreInstallations(_ changes: [StateChange]) throws(HubError) {
        for change in changes {
            guard let value = change.value,
                let entry = try? InstallationTable.Entry(id: change.key, stateDocument: value)
            else { continue }
            _ = try withHub(change.hub) { hub throws(HubError) in
                try hub.put(entry.installation, known: entry.registrationIDs)
            }
        }
    }

    private static func title(of entry: [UInt8]) -> String? { try? XMLReader.read(entry).child("title")?.text }
}

/// The name and description of a hub.
struct HubSummary: Sendable {
    let name: String
    let description: HubDescription

    init(_ hub: Hub) {
        name = hub.name
        description = hub.description
    }

    /// The hub in a response or in the state file.
    func entry(url: String, namespace: String) -> AtomEntry {
        var content = ""
        for field in description.fields {
            XMLWriter.write(field, parentNamespace: XMLNamespace.connect, to: &content)
        }
        return AtomEntry(
            url: url, title: name, publishedAt: description.createdAt, updatedAt: description.updatedAt,
            author: namespace, element: HubDescription.elementName, content: content)
    }
}
