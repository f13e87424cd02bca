import ChaosChecker
import Logging
import ServiceLifecycle
import StackKit
import Storage

/// The database of hubs of one's own, and their push service, as an operator sees them.
struct OwnHubs: Sendable {
    private static let lane = HubLaneKey(hub: HubFiles.hub, platform: "browser")
    /// The longest wait between two tries is five minutes.
    private static let drainLimit = Duration.seconds(330)

    private let opened: OpenedHubTables
    private let webPush: WebPushBackend

    init(_ stack: Stack, _ webPush: WebPushBackend) async throws {
        self.webPush = webPush
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
            let count = try? await opened.tables.waitingPushes(of: Self.lane)
            if count == 0 { return }
            if let count, count != last { Report.line("draining: \(count) pushes wait in the hub") }
            last = count ?? last
            await pause(.seconds(1))
        }
        Report.line("gave up draining: \(last) pushes wait in the hub")
    }

    /// Puts into the history which devices the hub still pushes to, and the counts of the push service.
    func writeFinalState(_ fleet: Fleet, history: HistoryWriter) async throws {
        let alive = Dictionary(uniqueKeysWithValues: webPush.subscriptions.map { ($0.handle, $0.id) })
        var registered: Set<String> = []
        var after: Int64? = 0
        while let place = after {
            let page = try await opened.tables.targets(
                hub: HubFiles.hub, of: HubAudience(formats: ["browser"]), after: place)
            registered.formUnion(page.registrations.compactMap { alive[$0.handle] })
            after = page.next
        }
        let state = try await webPush.service.state()
        history.write(
            .pushService(
                .init(
                    time: HistoryWriter.now, counts: state.counts, problems: state.problems,
                    alive: fleet.names(of: alive.values), registered: fleet.names(of: registered))))
    }
}
