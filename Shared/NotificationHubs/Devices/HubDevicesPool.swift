package import Domain
package import Foundations
package import Logging
import ServiceLifecycle
import Synchronization

/// Keeps devices in several hubs (`HUB_POOL_FILE`): one ``HubDevices`` per hub.
package final class HubDevicesPool: Service {
    /// The file, for readiness, metrics and SIGHUP.
    package let source: ReloadableSource
    private let clients: HubClients<HubDevices>
    private let state: Mutex<State>

    private struct State {
        var members: HubTable<HubDevices>
        var table: HubTable<any DevicePlacer.Hub>
        var left: [(client: HubDevices, since: ContinuousClock.Instant)] = []
    }

    /// How long calls to a hub that left may take: longer than any request.
    private static let leaving = Duration.seconds(30)

    /// - Parameter logger: see ``HubDevices/init(configuration:logger:)``.
    package init(file: HubPoolFile, logger: Logger) {
        source = file.source
        clients = HubClients(file) { hub in
            var logger = logger
            logger[metadataKey: "hub"] = "\(hub.hubName)"
            return HubDevices(configuration: hub, logger: logger)
        }
        let (members, _) = clients.refreshed()
        state = Mutex(State(members: members, table: Self.erased(members)))
    }

    /// The hubs as the file names them now.
    package var table: HubTable<any DevicePlacer.Hub> { refreshed { $0.table } }

    /// The feedback of each hub, by its name.
    package var feedbacks: [(hub: String, feedback: any HubFeedback)] {
        refreshed { state in state.members.members.map { ($0.name, $0.client) } }
    }

    private func refreshed<Value>(_ value: (State) -> Value) -> Value {
        let (members, left) = clients.refreshed()
        return state.withLock { state in
            if members !== state.members {
                state.members = members
                state.table = Self.erased(members)
            }
            state.left += left.map { ($0, .now) }
            return value(state)
        }
    }

    private static func erased(_ members: HubTable<HubDevices>) -> HubTable<any DevicePlacer.Hub> {
        HubTable(members.members.map { .init(label: $0.label, endpoint: $0.endpoint, client: $0.client) })
    }

    /// Closes the clients of hubs that left; and all of them at shutdown, when calls in flight fail.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.leaving)) != nil {
                let end = ContinuousClock.now - Self.leaving
                let due = self.state.withLock { state in
                    let due = state.left.filter { $0.since <= end }.map(\.client)
                    state.left.removeAll { $0.since <= end }
                    return due
                }
                for client in due { try? await client.shutdown() }
            }
        }
        let clients = clients.close() + state.withLock { $0.left.map(\.client) }
        try await withThrowingDiscardingTaskGroup { group in
            for client in clients { group.addTask { try await client.shutdown() } }
        }
    }
}

extension HubDevicesPool: HubTelemetry {
    /// The outcome of a message of the user's hub. If the user has another hub since then, that hub does not know the
    /// message.
    package func outcome(ofMessage id: String, to recipient: UserName) async throws -> MessageOutcome? {
        try await refreshed { $0.members.member(for: recipient).client }.outcome(ofMessage: id, to: recipient)
    }
}
