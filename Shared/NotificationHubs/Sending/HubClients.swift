import SecurePushCore
import Synchronization

/// The clients of a pool's hubs. A client lives as long as its hub's line in the file stays the same: a line with
/// another key or address gets a new client.
final class HubClients<Client: Sendable>: Sendable {
    private struct State {
        var version: HubPoolConfiguration
        var table: HubTable<Client>
        /// By the name in lower case.
        var configurations: [String: NotificationHubConfiguration]
        var isClosed = false
    }

    private let file: HubPoolFile
    private let make: @Sendable (NotificationHubConfiguration) -> Client
    private let state: Mutex<State>

    init(_ file: HubPoolFile, make: @escaping @Sendable (NotificationHubConfiguration) -> Client) {
        self.file = file
        self.make = make
        let version = file.current
        let (table, configurations, _) = Self.table(of: version, nil, make)
        state = Mutex(State(version: version, table: table, configurations: configurations))
    }

    /// The hubs as the file names them now, and the clients that are not used any more since the last call.
    func refreshed() -> (table: HubTable<Client>, left: [Client]) {
        let version = file.current
        return state.withLock { state in
            guard !state.isClosed, version !== state.version else { return (state.table, []) }
            let (table, configurations, left) = Self.table(of: version, state, make)
            state = State(version: version, table: table, configurations: configurations)
            return (table, left)
        }
    }

    /// Follows the file no longer.
    ///
    /// - Returns: the last clients.
    func close() -> [Client] {
        state.withLock { state in
            state.isClosed = true
            return state.table.members.map(\.client)
        }
    }

    private static func table(
        of version: HubPoolConfiguration, _ last: State?, _ make: (NotificationHubConfiguration) -> Client
    ) -> (HubTable<Client>, [String: NotificationHubConfiguration], left: [Client]) {
        var members: [HubTable<Client>.Member] = []
        var configurations: [String: NotificationHubConfiguration] = [:]
        for hub in version.hubs {
            let name = HubSelection.folded(hub.hubName)
            configurations[name] = hub
            if let known = last?.table.member(named: name), last?.configurations[name]?.isSame(as: hub) == true {
                members.append(known)
            } else {
                members.append(.init(label: hub.hubName, endpoint: hub.endpoint.url, client: make(hub)))
            }
        }
        let left = (last?.table.members ?? []).filter { old in !members.contains { $0 === old } }
        return (HubTable(members), configurations, left.map(\.client))
    }
}
