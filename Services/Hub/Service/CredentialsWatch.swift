import Logging
import ServiceLifecycle
import ServiceRuntime
import Synchronization

/// Applies changed credentials: several times a second it compares them with the last version.
final class CredentialsWatch: Service {
    private struct State {
        var simulated: [String]
        var changes: Int
    }

    /// With the interval of the file's watch, a change is in force within a second.
    private static let interval = Duration.milliseconds(250)

    let lanes: PushLanes
    private let file: PushCredentialsFile
    private let connectors: PushConnectors
    private let logger: Logger
    private let state: Mutex<State>

    init(
        _ file: PushCredentialsFile, connectors: PushConnectors, settings: DeliverySettings, logger: Logger
    ) {
        (self.file, self.connectors, self.logger) = (file, connectors, logger)
        let (credentials, changes) = file.current
        lanes = PushLanes(connectors.pushers(credentials), settings: settings, logger: logger)
        state = Mutex(State(simulated: credentials.simulatedLanes, changes: changes))
    }

    /// The simulated platforms, as `HUB/PLATFORM` with the platform's name in sends, sorted.
    var simulated: [String] { state.withLock { $0.simulated } }

    var isSimulated: Bool { state.withLock { !$0.simulated.isEmpty } }

    /// Names the simulated platforms in the log, and hubs with credentials that do not exist.
    ///
    /// - Parameter hubs: those of the file of rules.
    func tell(hubs: [String: String]) {
        let simulated = simulated
        if !simulated.isEmpty {
            logger.warning(
                "Platforms are simulated: their pushes reach no device",
                metadata: ["platforms": "\(simulated.joined(separator: ", "))"])
        }
        let unknown = file.current.credentials.hubs.filter { hubs[$0.key] == nil }.map(\.value.name).sorted()
        if !unknown.isEmpty {
            logger.warning(
                "There are credentials of hubs that no rule names, so no client can use them",
                metadata: ["hubs": "\(unknown.joined(separator: ", "))"])
        }
    }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: Self.interval)) != nil { self.look() }
        }
    }

    /// Applies the credentials if they have changed.
    func look() {
        let (credentials, changes) = file.current
        guard state.withLock({ $0.changes }) != changes else { return }
        let simulated = credentials.simulatedLanes
        state.withLock { $0 = State(simulated: simulated, changes: changes) }
        lanes.use(connectors.pushers(credentials))
        logger.notice(
            "The credentials have changed",
            metadata: ["simulated": "\(simulated.joined(separator: ", "))"])
    }
}

extension PushCredentials {
    /// The simulated platforms, as `HUB/PLATFORM` with the hub's name in lower case, sorted.
    var simulatedLanes: [String] {
        hubs.flatMap { hubKey, hub in
            hub.platforms.filter { $0.value == .simulated }
                .flatMap { $0.key.formats.map { "\(hubKey)/\($0.rawValue)" } }
        }.sorted()
    }
}
