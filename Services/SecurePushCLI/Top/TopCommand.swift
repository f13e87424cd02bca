import ArgumentParser
import Foundation
import SecurePushCore

struct TopCommand: ConsoleCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch the services: what they take in, pass on and wait for.",
        discussion: """
            Reads /metrics, /readyz and /version of each service and shows what happened between two looks, until
            Ctrl-C. Where standard output is no terminal it prints one table; with --json one object a look.

            EXAMPLES
              securepush top
              securepush top --dispatcher http://10.0.0.7:8082 --dispatcher http://10.0.0.8:8082 --interval 5s
              securepush top --once --json
            """)

    @Option(help: ArgumentHelp("The ingest service (INGEST_URL; http://127.0.0.1:8080).", valueName: "url"))
    var ingestURL: String?

    @Option(help: ArgumentHelp("The retrieval service (RETRIEVAL_URL; http://127.0.0.1:8081).", valueName: "url"))
    var retrievalURL: String?

    @Option(
        help: ArgumentHelp(
            "A dispatcher; repeat it for more (DISPATCHER_URL, comma-separated; http://127.0.0.1:8082).",
            valueName: "url"))
    var dispatcher: [String] = []

    @Option(help: ArgumentHelp("The time between two looks, 200ms to 1h.", valueName: "duration"))
    var interval = DurationArgument(.seconds(1))

    @Flag(help: "Look twice, print what happened between, and end.")
    var once = false

    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Look: Encodable {
        var Time: String
        var Services: [TopReading]
    }

    func validate() throws {
        guard interval.duration >= .milliseconds(200), interval.duration <= .seconds(3600) else {
            throw ValidationError("--interval is 200ms to 1h.")
        }
    }

    func run(on console: Console) async throws {
        let services = try TopService.all(
            ingest: ingestURL, retrieval: retrievalURL, dispatchers: dispatcher, ProcessInfo.processInfo.environment)
        let watcher = TopWatcher(services)
        let screen = console.isJSON || once || !Console.isTerminal ? nil : Screen()
        let endsAtOnce = once || (screen == nil && !console.isJSON)
        screen?.open()
        defer { screen?.close() }
        _ = try await Deadline.run(nil) {
            var watcher = watcher
            var readings = try await watcher.look()
            if endsAtOnce && !readings.contains(where: { $0.State != "unreachable" }) {
                throw CommandFailure(.unreachable, "No service answers.", details: readings.flatMap(\.Down))
            }
            screen?.draw(text(readings, console))
            while true {
                try await Task.sleep(for: interval.duration)
                readings = try await watcher.look()
                if let screen {
                    screen.draw(text(readings, console))
                } else {
                    try console.show(
                        Look(Time: Timestamp.now.description, Services: readings),
                        TopView(readings: readings, styled: console.styled).lines.joined(separator: "\n"))
                }
                if endsAtOnce { return }
            }
        }
    }

    private func text(_ readings: [TopReading], _ console: Console) -> [String] {
        let title = "securepush top, every \(interval.duration.spoken), \(Timestamp.now)"
        return [console.styled(title, .dim), ""] + TopView(readings: readings, styled: console.styled).lines
    }
}

/// A service that `securepush top` looks at.
struct TopService: Sendable {
    let client: APIClient

    /// The URLs of flags, or of the environment, or the default ports. Empty texts name no service.
    static func all(
        ingest: String?, retrieval: String?, dispatchers: [String], _ environment: [String: String]
    ) throws -> [TopService] {
        let dispatchers =
            dispatchers.isEmpty
            ? (environment["DISPATCHER_URL"] ?? "http://127.0.0.1:8082").split(separator: ",").map(String.init)
            : dispatchers
        let urls =
            [
                ("ingest", ingest ?? environment["INGEST_URL"] ?? "http://127.0.0.1:8080"),
                ("retrieval", retrieval ?? environment["RETRIEVAL_URL"] ?? "http://127.0.0.1:8081"),
            ] + dispatchers.map { ("dispatcher", $0) }
        return try urls.filter { !$0.1.isEmpty }.map { name, url in
            TopService(client: try APIClient(service: name, url: url, timeout: .seconds(5)))
        }
    }
}

/// Looks at services again and again, and tells what happened since the last look.
struct TopWatcher: Sendable {
    private struct Look: Sendable {
        var time: ContinuousClock.Instant
        var samples: PrometheusSamples?
    }

    private struct Version: Decodable { var Version: String }

    let services: [TopService]
    private var looks: [Look?]
    private var versions: [String?]

    init(_ services: [TopService]) {
        self.services = services
        looks = Array(repeating: nil, count: services.count)
        versions = Array(repeating: nil, count: services.count)
    }

    /// One look at all services at once, in their order.
    mutating func look() async throws -> [TopReading] {
        let services = services
        let answers = try await withThrowingTaskGroup(of: (Int, Readiness, Look, String?).self) { group in
            for (index, service) in services.enumerated() {
                group.addTask { try await TopWatcher.ask(service.client, index) }
            }
            return try await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }
        }
        return answers.map { index, readiness, look, version in
            let client = services[index].client
            versions[index] = version ?? versions[index]
            let last = looks[index]
            looks[index] = look
            let window = look.samples.map { samples in
                MetricsWindow(
                    before: last?.samples, after: samples,
                    seconds: last.map { (look.time - $0.time).inSeconds } ?? 0)
            }
            return TopReading(
                service: client.service, url: client.baseURL, version: versions[index], readiness: readiness,
                window: window)
        }
    }

    private static func ask(_ client: APIClient, _ index: Int) async throws -> (Int, Readiness, Look, String?) {
        do {
            let metrics = try await client.send(.get, "/metrics")
            let look = Look(
                time: .now, samples: metrics.isSuccess ? PrometheusSamples(metrics.body) : nil)
            let readiness = Readiness(try await client.send(.get, "/readyz"))
            let version = try await client.send(.get, "/version")
            return (
                index, readiness, look, (try? JSONText.decode(Version.self, from: version.body))?.Version
            )
        } catch let failure as CommandFailure {
            return (index, .unreachable(failure.message), Look(time: .now), nil)
        }
    }
}
