import ChaosChecker
import Logging
import ServiceLifecycle
import StackKit
import Storage

/// The database of hubs of one's own, and their push services, as an operator sees them.
struct OwnHubs: Sendable {
    /// The longest wait between two tries is five minutes.
    private static let drainLimit = Duration.seconds(330)

    private let opened: OpenedHubTables
    private let backend: PushServicesBackend

    init(_ stack: Stack, _ backend: PushServicesBackend) async throws {
        self.backend = backend
        var logger = Logger(label: "chaos")
        logger.logLevel = .critical
        opened = try await openHubTables(
            StorageConfiguration(url: stack.databaseURL, migrations: .check), logger: logger)
    }

    /// Works until the task is cancelled.
    func run() async { try? await opened.service.run() }

    /// Waits until no push is stored to be tried again, or the time is up.
    func drain() async throws {
        let deadline = ContinuousClock.now + Self.drainLimit
        var last = -1
        while ContinuousClock.now < deadline {
            try Task.checkCancellation()
            let count = try? await waitingPushes()
            if count == 0 { return }
            if let count, count != last { Report.line("draining: \(count) pushes wait in the hub") }
            last = count ?? last
            await pause(.seconds(1))
        }
        Report.line("gave up draining: \(last) pushes wait in the hub")
    }

    private func waitingPushes() async throws -> Int {
        var count = 0
        for service in backend.services {
            let lane = HubLaneKey(hub: HubFiles.hub, platform: service.platform)
            count += try await opened.tables.waitingPushes(of: lane)
        }
        return count
    }

    /// Puts into the history which devices the hub still pushes to, and the counts of the push services.
    func writeFinalState(_ fleet: Fleet, history: HistoryWriter) async throws {
        for service in backend.services {
            let devices = backend.devices.joined().filter { $0.platform == service.platform }.map(\.made)
            // A hub may keep a token of APNs in capitals.
            let alive = Dictionary(uniqueKeysWithValues: devices.map { ($0.handle.lowercased(), $0.id) })
            var registered: Set<String> = []
            var after: Int64? = 0
            while let place = after {
                let page = try await opened.tables.targets(
                    hub: HubFiles.hub, of: HubAudience(formats: [service.platform]), after: place)
                registered.formUnion(page.registrations.compactMap { alive[$0.handle.lowercased()] })
                after = page.next
            }
            let state = try await service.fake.state()
            history.write(
                .pushService(
                    .init(
                        time: HistoryWriter.now, platform: service.platform, counts: state.counts,
                        problems: state.problems, alive: fleet.names(of: alive.values),
                        registered: fleet.names(of: registered))))
        }
    }
}
