import Domain
import Synchronization

/// The clients of a pool's hubs. A client lives as long as its hub's line in the file stays the same: a line with
/// another key or address gets a new client.
final class HubClients<Client: Sendable>: Sendable {
    private struct State {
        var version: HubPoolConfiguration
        var table: HubTable<Client>
        var isClosed = false
    }

    private let file: HubPoolFile
    private let make: @Sendable (NotificationHubConfiguration) -> Client
    private let state: Mutex<State>

    init(_ file: HubPoolFile, make: @escaping @Sendable (NotificationHubConfiguration) -> Client) {
        self.file = file
        self.make = make
        let version = file.current
        state = Mutex(State(version: version, table: HubTable(version.hubs.map { .init($0, make($0)) })))
    }

    /// The hubs as the file names them now, and the clients that are not used any more since the last call.
    func refreshed() -> (table: HubTable<Client>, left: [Client]) {
        let version = file.current
        return state.withLock { state in
            guard !state.isClosed, version !== state.version else { return (state.table, []) }
            let last = state
            let members = version.hubs.map { hub in
                let stays = last.version.hubs.contains { $0.isSame(as: hub) }
                let known = stays ? last.table.member(named: HubSelection.folded(hub.hubName)) : nil
                return known ?? .init(hub, make(hub))
            }
            state = State(version: version, table: HubTable(members))
            let left = last.table.members.filter { old in !members.contains { $0 === old } }
            return (state.table, left.map(\.client))
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
}

extension HubTable.Member {
    fileprivate convenience init(_ hub: NotificationHubConfiguration, _ client: Client) {
        self.init(label: hub.hubName, endpoint: hub.endpoint.url, client: client)
    }
}
