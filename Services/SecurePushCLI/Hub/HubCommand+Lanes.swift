import ArgumentParser
import Foundations
import ServiceRuntime

extension HubCommand {
    struct Lanes: NetworkCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show the platforms of each hub: their rate, pushes in flight, retries that wait, and pauses.",
            discussion: """
                Asks /metrics and /readyz of a running hub twice, a second apart. STATE is open, paused (the push \
                service throttles or fails), refused (it refuses the credentials; one push in 30 s tries again) or \
                simulated. REMOVALS says suspended while too many devices have wrong addresses. Exit code 1 if a lane \
                is refused or its removals are suspended.

                EXAMPLES
                  securepush hub lanes
                  securepush hub lanes --hub-url http://127.0.0.1:8085 --json
                """)

        @Option(help: ArgumentHelp("The hub (HUB_URL; http://127.0.0.1:8085).", valueName: "url"))
        var hubURL: String?

        @OptionGroup(title: "Service") var network: NetworkOptions
        @OptionGroup(title: "Output") var output: OutputOptions

        func run(on console: Console) async throws {
            let client = try ServiceURL.hub.client(hubURL, timeout: .seconds(5))
            let first = try await Self.poll(client)
            try await Task.sleep(for: .seconds(1))
            var state = ProcessState(first)
            state.note(try await Self.poll(client))
            let rows = HubLaneRow.rows(state)
            if rows.isEmpty { return console.nothing("The hub has not pushed anything yet.") }
            var table = Table(HubLaneRow.columns)
            try console.show(rows, in: &table)
            if rows.contains(where: { $0.state == .refused || $0.removalsSuspended }) {
                throw CommandFailure.Code.failed.exitCode
            }
        }

        private static func poll(_ client: APIClient) async throws -> ProcessPoll {
            try await ProcessPoll { path in
                let answer = try await client.send(.get, path)
                return (answer.status, answer.body)
            }
        }
    }
}

/// A platform of a hub, as `/metrics` and `/readyz` of the service `hub` show it.
struct HubLaneRow: Encodable, Sendable, Equatable {
    enum State: String, Encodable, Sendable {
        case open, paused
        /// The push service refuses the credentials.
        case refused
        case simulated
    }

    var hub: String
    var platform: String
    var state: State
    var pushesPerSecond: Double?
    var inFlight = 0
    var retriesWaiting = 0
    var removalsSuspended = false

    static func rows(_ process: ProcessState) -> [HubLaneRow] {
        guard let window = process.window else { return [] }
        let samples = window.after
        let used = samples["securepush_hub_lane_state"].compactMap { sample -> HubLaneRow? in
            guard let hub = sample.labels["hub"], let platform = sample.labels["platform"] else { return nil }
            let labels = ["hub": hub, "platform": platform]
            var row = HubLaneRow(hub: hub, platform: platform, state: .open)
            let isSimulated = process.readiness.simulated.contains("\(hub)/\(platform)")
            row.state = sample.value == 2 ? .refused : sample.value == 1 ? .paused : isSimulated ? .simulated : .open
            row.pushesPerSecond =
                window.before == nil
                ? nil : window.rate("securepush_hub_pushes_total", labels)?.rounded(toPlaces: 1)
            row.inFlight = process.readiness.inFlight["\(hub)/\(platform)"] ?? 0
            row.retriesWaiting = samples.count("securepush_hub_retries_waiting", labels)
            row.removalsSuspended = samples.count("securepush_hub_removals_suspended", labels) > 0
            return row
        }
        // A simulated platform has no metrics of its own.
        let shown = Set(used.map { "\($0.hub)/\($0.platform)" })
        let simulated = process.readiness.simulated.filter { !shown.contains($0) }.compactMap { name -> HubLaneRow? in
            // No platform has a slash.
            let parts = OutsideText.parts(name, at: "/")
            guard parts.count == 2 else { return nil }
            return HubLaneRow(hub: String(parts[0]), platform: String(parts[1]), state: .simulated)
        }
        return (used + simulated).sorted { ($0.hub, $0.platform) < ($1.hub, $1.platform) }
    }

    static var columns: [Column<HubLaneRow>] {
        [
            Column("HUB") { $0.hub }, Column("PLATFORM") { $0.platform }, Column("STATE") { $0.state.rawValue },
            Column("PUSHES/S", isNumber: true) { $0.pushesPerSecond?.figure },
            Column("IN FLIGHT", isNumber: true) { $0.inFlight.grouped },
            Column("RETRIES", isNumber: true) { $0.retriesWaiting.grouped },
            Column("REMOVALS") { $0.removalsSuspended ? "suspended" : "on" },
        ]
    }
}

extension PrometheusSamples {
    /// A sum as a whole number; 0 for NaN, infinity and numbers that do not fit.
    fileprivate func count(_ name: String, _ labels: [String: String]) -> Int {
        sum(name, labels).flatMap { Int(exactly: $0.rounded()) } ?? 0
    }
}
