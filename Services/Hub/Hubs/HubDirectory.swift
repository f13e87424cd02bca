import DequeModule
import Domain
import Foundations
import Storage
import Synchronization

/// The hubs of the namespace. They are few, so this process has all of them in memory as well.
final class HubDirectory: Sendable {
    /// Which names are those of hubs.
    enum Names: Sendable {
        /// Any name: the first use of a name makes a hub.
        case any
        /// These, in lower case, and those that a client makes.
        case only(Set<String>)
        /// ``HubGate`` decides, and no hub is stored. The names by their lower-case forms.
        case decidedElsewhere(@Sendable () -> [String: String])
    }

    private struct State {
        var hubs: [String: HubSummary] = [:]
        /// Hubs that a client deleted, which a later use does not create again.
        var deleted = RetiredNames()
    }

    /// The maximum number of hubs. Only a client with a valid token can create one.
    static let maxHubs = 1000
    /// The service's limit for names, in characters.
    private static let maxNameLength = 260

    let tables: HubTables
    private let names: Names
    private let endpointHost: String
    private let state: Mutex<State>

    /// - Parameters:
    ///   - endpointHost: the host of the connection string, for tokens under the hubs' own rules.
    init(_ tables: HubTables, names: Names = .any, endpointHost: String = "") {
        self.tables = tables
        self.names = names
        self.endpointHost = endpointHost
        var state = State()
        if case .only(let names) = names {
            for name in names {
                state.hubs[name] = HubSummary(name: name, HubDescription(), endpointHost: endpointHost)
            }
        }
        self.state = Mutex(state)
    }

    /// Reads the hubs that are stored. Call it before clients are served.
    ///
    /// - Throws: ``StorageError``.
    func load() async throws {
        if case .decidedElsewhere = names { return }
        for row in try await tables.hubs() {
            let summary = HubSummary(row, endpointHost: endpointHost)
            state.withLock { state in
                if row.isDeleted {
                    state.deleted.insert(row.key)
                } else if row.description != nil || isOpen && state.hubs[row.key] == nil {
                    state.hubs[row.key] = summary
                }
            }
        }
    }

    /// Whether a text can be the name of a hub.
    static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.unicodeScalars.count <= maxNameLength
            && text.unicodeScalars.allSatisfy(XMLInput.isAllowed)
    }

    /// Whether a hub exists, and what checks tokens under its own rules.
    func entrance(_ hubKey: String) -> (exists: Bool, authorizer: HubAuthorizer?) {
        state.withLock { state in
            if let hub = state.hubs[hubKey] { return (true, hub.authorizer) }
            return (isOpen && Self.isName(hubKey) && !state.deleted.contains(hubKey), nil)
        }
    }

    private var isOpen: Bool { if case .any = names { true } else { false } }

    /// Creates a hub that does not exist, if every name is a hub.
    ///
    /// - Parameter hubKey: the hub's name in lower case.
    /// - Throws: 404 when the hub was deleted, 403 when there are too many hubs.
    func use(_ hubKey: String) async throws {
        if case .decidedElsewhere = names { return }
        let new = try state.withLock { state throws(HubError) -> HubSummary? in
            if state.hubs[hubKey] != nil { return nil }
            guard isOpen, !state.deleted.contains(hubKey) else { throw HubError.unknownHub }
            try Self.checkCapacity(state)
            let new = HubSummary(name: hubKey, HubDescription(), endpointHost: endpointHost)
            state.hubs[hubKey] = new
            return new
        }
        if let new { try await save(new, former: nil) }
    }

    /// - Throws: 403.
    private static func checkCapacity(_ state: State) throws(HubError) {
        guard state.hubs.count < maxHubs else {
            throw HubError.full("A namespace has at most \(maxHubs) hubs.")
        }
    }

    // MARK: Descriptions

    /// Nil when there is none.
    func hub(_ hubKey: String) -> HubSummary? {
        if case .decidedElsewhere(let names) = names { return names()[hubKey].map(summary) }
        return state.withLock { $0.hubs[hubKey] }
    }

    /// The hubs in order of their names.
    var all: [HubSummary] {
        if case .decidedElsewhere(let names) = names { return names().values.map(summary).sorted { $0.key < $1.key } }
        return state.withLock { Array($0.hubs.values) }.sorted { $0.key < $1.key }
    }

    /// A hub without a description of its own.
    private func summary(name: String) -> HubSummary {
        HubSummary(name: name, HubDescription(), endpointHost: endpointHost)
    }

    /// Creates a hub, or describes one that was created by use, which keeps its registrations.
    ///
    /// - Throws: 409 for a described or configured hub, 403 when there are too many hubs.
    func create(_ name: String, _ description: HubDescription) async throws -> HubSummary {
        let new = HubSummary(name: name, description.completed(from: nil), endpointHost: endpointHost)
        let (former, wasDeleted) = try state.withLock { state throws(HubError) in
            let former = state.hubs[new.key]
            if let former, !isOpen || former.description.isGiven { throw HubError.hubExists }
            if former == nil { try Self.checkCapacity(state) }
            state.hubs[new.key] = new
            return (former, state.deleted.remove(new.key))
        }
        try await save(new, former: former, wasDeleted: wasDeleted)
        return new
    }

    /// - Throws: 404.
    func update(_ hubKey: String, _ description: HubDescription) async throws -> HubSummary {
        let (new, former) = try state.withLock { state throws(HubError) in
            guard let former = state.hubs[hubKey] else { throw HubError.unknownHub }
            let new = HubSummary(
                name: former.name, description.completed(from: former.description), endpointHost: endpointHost)
            state.hubs[hubKey] = new
            return (new, former)
        }
        try await save(new, former: former)
        return new
    }

    /// Deletes a hub and all its registrations.
    ///
    /// - Parameter removed: gets the registrations, some at a time.
    /// - Throws: 404.
    func delete(_ hubKey: String, removed: @Sendable ([RegistrationEntry]) -> Void) async throws {
        let former = try state.withLock { state throws(HubError) in
            guard let former = state.hubs.removeValue(forKey: hubKey) else { throw HubError.unknownHub }
            state.deleted.insert(hubKey)
            return former
        }
        do {
            try await tables.removeHub(former.name) { removed($0.compactMap(RegistrationEntry.init)) }
        } catch {
            restore(hubKey, former)
            throw error
        }
    }

    /// Stores a hub; if that fails, the hub is again as it was.
    private func save(_ hub: HubSummary, former: HubSummary?, wasDeleted: Bool = false) async throws {
        do {
            // The rest of an interrupted deletion.
            if wasDeleted { try await tables.removeHub(hub.key) { _ in } }
            try await tables.save(hub.row)
        } catch {
            restore(hub.key, former, isDeleted: wasDeleted)
            throw error
        }
    }

    private func restore(_ hubKey: String, _ hub: HubSummary?, isDeleted: Bool = false) {
        state.withLock { state in
            state.hubs[hubKey] = hub
            if isDeleted { state.deleted.insert(hubKey) } else { _ = state.deleted.remove(hubKey) }
        }
    }
}

/// The name and description of a hub.
struct HubSummary: Sendable {
    /// As first written.
    let name: String
    let description: HubDescription
    /// Checks tokens under the hub's own rules. Each change of the rules makes a new one, without the tokens that were
    /// verified before.
    let authorizer: HubAuthorizer?

    init(name: String, _ description: HubDescription, endpointHost: String) {
        self.name = name
        self.description = description
        authorizer = description.makeAuthorizer(endpointHost: endpointHost)
    }

    /// A description that cannot be read counts as none.
    fileprivate init(_ row: HubRow, endpointHost: String) {
        self.init(
            name: row.name,
            row.description.flatMap { try? HubDescription(entry: $0) }?.completed(from: nil) ?? HubDescription(),
            endpointHost: endpointHost)
    }

    /// The name in lower case.
    var key: String { name.lowercased() }

    fileprivate var row: HubRow {
        HubRow(
            name: name, description: description.isGiven ? Array(entry(url: "", namespace: "").text.utf8) : nil)
    }

    /// The hub in a response or in the store.
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

/// The newest deleted names.
private struct RetiredNames {
    private static let capacity = 10_000

    private var names: Set<String> = []
    private var order: Deque<String> = []

    func contains(_ name: String) -> Bool { names.contains(name) }

    mutating func insert(_ name: String) {
        guard names.insert(name).inserted else { return }
        order.append(name)
        if order.count > Self.capacity { names.remove(order.removeFirst()) }
    }

    /// - Returns: whether it was there.
    mutating func remove(_ name: String) -> Bool {
        guard names.remove(name) != nil else { return false }
        order.removeAll { $0 == name }
        return true
    }
}
