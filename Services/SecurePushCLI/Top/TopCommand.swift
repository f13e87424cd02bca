import ArgumentParser
import Foundation
import Foundations
import ServiceRuntime

struct TopCommand: NetworkCommand {
    static let configuration = CommandConfiguration(
        commandName: "top",
        abstract: "Watch the services: state, throughput, latency and backlog.",
        discussion: """
            Polls /metrics and /readyz of each service and shows the rates of each interval until q or \
            Ctrl-C. If standard output is not a terminal, it prints one table and exits. With --json it prints one \
            object per interval. An empty URL leaves a service out. A hub is shown if a URL names it.

            With --once, and without a terminal, the exit code is 69 if a service is not ready or does not answer, and \
            the last line on standard error names it.

            EXAMPLES
              securepush top
              securepush top --dispatcher http://10.0.0.7:8082 \\
                  --dispatcher http://10.0.0.8:8082 --interval 5s
              securepush top --once --json
            """)

    @Option(help: ArgumentHelp("The ingest service (INGEST_URL; http://127.0.0.1:8080).", valueName: "url"))
    var ingestURL: String?

    @Option(help: ArgumentHelp("The retrieval service (RETRIEVAL_URL; http://127.0.0.1:8081).", valueName: "url"))
    var retrievalURL: String?

    @Option(
        help: ArgumentHelp(
            "A dispatcher. Repeat it for more (DISPATCHER_URL, comma-separated; http://127.0.0.1:8082).",
            valueName: "url"))
    var dispatcher: [String] = []

    @Option(help: ArgumentHelp("A hub of your own (HUB_URL; none).", valueName: "url"))
    var hubURL: String?

    @Option(help: ArgumentHelp("The polling interval, 200ms to 1h.", valueName: "duration"))
    var interval = DurationArgument(.seconds(1))

    @Flag(help: "Print the rates of one interval and exit.")
    var once = false

    @OptionGroup(title: "Service") var network: NetworkOptions
    @OptionGroup(title: "Output") var output: OutputOptions

    private struct Report: Encodable {
        var time: String
        var services: [TopReading]
    }

    func validate() throws {
        try requireRange("--interval", interval, .milliseconds(200) ... .seconds(3600))
    }

    func run(on console: Console) async throws {
        let watcher = TopWatcher(try clients())
        if console.isJSON || once || !Console.isTerminal {
            let endsAfterOne = once || !console.isJSON
            try await withInterruption { try await show(watcher, endsAfterOne: endsAfterOne, on: console) }
        } else {
            try await withInterruption { try await draw(watcher, console) }
        }
    }

    /// - Throws: ``CommandFailure`` with code `unreachable` after one interval if a service is down.
    private func show(_ watcher: TopWatcher, endsAfterOne: Bool, on console: Console) async throws {
        var watcher = watcher
        var readings = try await watcher.poll()
        if endsAfterOne && !readings.contains(where: { $0.state != .unreachable }) {
            throw CommandFailure(.unreachable, "No service answers.", details: readings.flatMap(\.down))
        }
        repeat {
            try await Task.sleep(for: interval.duration)
            readings = try await watcher.poll()
            try console.show(
                Report(time: Timestamp.now.description, services: readings),
                TopView(readings: readings, styled: console.styled).lines.joined(separator: "\n"))
        } while !endsAfterOne
        if let failure = TopReading.failure(readings) { throw failure }
    }

    /// Redraws the terminal until `q` is pressed, or until cancelled.
    private func draw(_ watcher: TopWatcher, _ console: Console) async throws {
        let screen = Screen()
        let keys = TerminalKeys()
        screen.open()
        // Before the process ends, also by Ctrl-C and SIGTERM: a signal cancels this task.
        defer {
            screen.close()
            keys?.close()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var watcher = watcher
                while true {
                    screen.draw(text(try await watcher.poll(), console, leaves: keys != nil))
                    try await Task.sleep(for: interval.duration)
                }
            }
            if let keys { group.addTask { try await keys.wait(for: ["q", "Q"]) } }
            try await group.next()
            group.cancelAll()
        }
    }

    /// The services of the flags, the environment or the default ports. An empty URL leaves a service out.
    func clients() throws -> [APIClient] {
        let timeout = Duration.seconds(5)
        var clients: [APIClient] = []
        for (service, url) in [(ServiceURL.ingest, ingestURL), (ServiceURL.retrieval, retrievalURL)] where url != "" {
            clients.append(try service.client(url, timeout: timeout))
        }
        let service = ServiceURL.dispatcher
        if dispatcher.isEmpty {
            clients += try ServiceURL.list(service.url(nil)).map {
                try APIClient(service: service.service, url: $0, from: service.key, timeout: timeout)
            }
        }
        clients += try dispatcher.filter { !$0.isEmpty }.map { try service.client($0, timeout: timeout) }
        // With a hub in Azure there is none.
        let hub = ServiceURL.hub
        if hubURL.map({ !$0.isEmpty }) ?? (Settings()[hub.key] != nil) {
            clients.append(try hub.client(hubURL, timeout: timeout))
        }
        return clients
    }

    private func text(_ readings: [TopReading], _ console: Console, leaves: Bool) -> [String] {
        let end = leaves ? "q leaves" : "Ctrl-C leaves"
        let title = "securepush top, every \(interval.duration.spoken), \(Timestamp.now), \(end)"
        return [console.styled(title, .dim), ""] + TopView(readings: readings, styled: console.styled).lines
    }
}

/// Polls services and computes the rates since the previous poll.
struct TopWatcher: Sendable {
    private let clients: [APIClient]
    private var processes: [Int: ProcessState] = [:]

    init(_ clients: [APIClient]) { self.clients = clients }

    /// Polls all services concurrently and returns their readings in order.
    mutating func poll() async throws -> [TopReading] {
        let clients = clients
        let polls = try await withThrowingTaskGroup(of: (Int, ProcessPoll).self) { group in
            for (index, client) in clients.enumerated() {
                group.addTask { (index, try await TopWatcher.poll(client)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        return clients.enumerated().compactMap { index, client in
            guard let poll = polls[index] else { return nil }
            var process = processes[index] ?? ProcessState(poll)
            if processes[index] != nil { process.note(poll) }
            processes[index] = process
            return TopReading(service: client.service, url: client.address, process)
        }
    }

    private static func poll(_ client: APIClient) async throws -> ProcessPoll {
        do {
            return try await ProcessPoll { path in
                let response = try await client.send(.get, path)
                return (response.status, response.body)
            }
        } catch let failure as CommandFailure {
            return ProcessPoll(readiness: .unreachable(failure.message))
        }
    }
}
