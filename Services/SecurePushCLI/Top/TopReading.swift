import Foundation

/// What `securepush top` shows of one service at one time.
struct TopReading: Encodable, Sendable, Equatable {
    struct Latency: Encodable, Sendable, Equatable {
        var P50Milliseconds: Double
        var P99Milliseconds: Double
    }

    var Service: String
    var URL: String
    var Version: String?
    /// `ready`, `unready` or `unreachable`.
    var State: String
    /// Parts that are down, or why there is no answer.
    var Down: [String] = []
    /// Requests answered a second, those for health and metrics left out.
    var RequestsPerSecond: Double?
    var RequestLatency: Latency?
    /// Bytes.
    var ResidentMemoryBytes: Double?
    /// Of one core.
    var CPUPercent: Double?
    /// What this kind of service has besides, by its name: rates a second and amounts.
    var Figures: [String: Double] = [:]
}

extension TopReading {
    /// The routes that callers of the services ask for, as against operators.
    private static let operations: Set<String> = ["/livez", "/readyz", "/metrics", "/version"]

    init(
        service: String, url: String, version: String?, readiness: Readiness, window: MetricsWindow?
    ) {
        self.init(Service: service, URL: url, Version: version, State: readiness.state, Down: readiness.down)
        guard let window else { return }
        ResidentMemoryBytes = window.after.sum("process_resident_memory_bytes")
        CPUPercent = window.rate("process_cpu_seconds_total").map { ($0 * 100).rounded(toPlaces: 1) }
        let routes = window.rates("securepush_http_requests_total", by: "route")
        let isMeasured = window.before != nil
        RequestsPerSecond =
            isMeasured
            ? routes.filter { !TopReading.operations.contains($0.key) }.values.reduce(0, +).rounded(toPlaces: 1) : nil
        // The busiest route stands for the service; the others' latencies would blur it.
        let busiest = routes.filter { !TopReading.operations.contains($0.key) }.max { $0.value < $1.value }?.key
        if let busiest {
            RequestLatency = TopReading.latency(
                window, "securepush_http_request_duration_seconds", ["route": busiest])
        }
        for figure in TopFigure.all where figure.service == service {
            if let value = figure.value(window) { Figures[figure.name] = value.rounded(toPlaces: 3) }
        }
        if service == "dispatcher" {
            for result in ["sent", "throttled", "unavailable", "rejected", "unauthorized"] {
                let rate = window.rate("securepush_dispatch_attempts_total", ["result": result])
                if let rate, rate > 0 || result == "sent" {
                    Figures["\(result.capitalized)PerSecond"] = rate.rounded(toPlaces: 3)
                }
            }
            let platforms = window.rates("securepush_dispatch_attempts_total", by: "platform")
            for (platform, rate) in platforms {
                Figures["Attempts\(platform.capitalized)PerSecond"] = rate.rounded(toPlaces: 3)
            }
        }
    }

    static func latency(_ window: MetricsWindow, _ name: String, _ labels: [String: String]) -> Latency? {
        guard let p50 = window.quantile(0.5, name, labels), let p99 = window.quantile(0.99, name, labels) else {
            return nil
        }
        return Latency(
            P50Milliseconds: (p50 * 1000).rounded(toPlaces: 2), P99Milliseconds: (p99 * 1000).rounded(toPlaces: 2))
    }
}

/// One figure of a kind of service.
struct TopFigure: Sendable {
    enum Kind: Sendable {
        /// Growth a second.
        case rate
        case amount
        /// The 99th percentile of a histogram of seconds, in milliseconds.
        case p99
    }

    let service: String
    let name: String
    let metric: String
    let kind: Kind
    /// Only series with these are counted.
    let labels: [String: String]

    /// In the order in which they are shown.
    static let all: [TopFigure] = [
        TopFigure(
            "ingest", "AcceptedPerSecond", "securepush_notifications_accepted_total", .rate, ["result": "created"]),
        TopFigure("ingest", "PublishedPerSecond", "securepush_outbox_published_total", .rate),
        TopFigure("ingest", "OutboxPending", "securepush_outbox_pending", .amount),
        TopFigure("ingest", "OutboxOldestAgeSeconds", "securepush_outbox_oldest_age_seconds", .amount),
        TopFigure("ingest", "ConfirmP99Milliseconds", "securepush_publish_confirm_duration_seconds", .p99),
        TopFigure("dispatcher", "DispatchedPerSecond", "securepush_dispatch_settled_total", .rate),
        TopFigure("dispatcher", "AttemptsPerSecond", "securepush_dispatch_attempts_total", .rate),
        TopFigure("dispatcher", "RetriesPerSecond", "securepush_dispatch_retries_total", .rate),
        TopFigure("dispatcher", "Parked", "securepush_dead_lettered_total", .amount),
        TopFigure("dispatcher", "HubP99Milliseconds", "securepush_hub_request_duration_seconds", .p99),
        TopFigure("retrieval", "RetrievalsPerSecond", "securepush_retrievals_total", .rate),
    ]

    init(_ service: String, _ name: String, _ metric: String, _ kind: Kind, _ labels: [String: String] = [:]) {
        self.service = service
        self.name = name
        self.metric = metric
        self.kind = kind
        self.labels = labels
    }

    func value(_ window: MetricsWindow) -> Double? {
        switch kind {
        case .rate: window.rate(metric, labels)
        case .amount: window.after.sum(metric, labels)
        case .p99: window.quantile(0.99, metric, labels).map { $0 * 1000 }
        }
    }
}

/// What `/readyz` said.
struct Readiness: Sendable, Equatable {
    var state: String
    var down: [String]

    private struct Report: Decodable {
        var status: String
        var checks: [String: String]?
    }

    static func unreachable(_ reason: String) -> Readiness { Readiness(state: "unreachable", down: [reason]) }

    init(state: String, down: [String]) {
        self.state = state
        self.down = down
    }

    init(_ answer: APIAnswer) {
        let report = try? JSONText.decode(Report.self, from: answer.body)
        state = report?.status ?? (answer.isSuccess ? "ready" : "unready")
        down = (report?.checks ?? [:]).filter { $0.value != "up" }.keys.sorted()
    }
}

/// `securepush top` for people: a row a service, and under it what flows through the system.
struct TopView: Sendable {
    let readings: [TopReading]
    let styled: @Sendable (String, Style) -> String

    var lines: [String] { services + faults + [""] + flow }

    private var services: [String] {
        var table = TextTable()
        table.add(["service", "state", "version", "req/s", "p50 ms", "p99 ms", "CPU %", "RSS MB"])
        for reading in readings {
            table.add([
                reading.Service, reading.State, (reading.Version ?? "-").printable,
                TopView.figure(reading.RequestsPerSecond),
                reading.RequestLatency.map { LatencySummary.text($0.P50Milliseconds) } ?? "-",
                reading.RequestLatency.map { LatencySummary.text($0.P99Milliseconds) } ?? "-",
                TopView.figure(reading.CPUPercent), TopView.figure(reading.ResidentMemoryBytes.map { $0 / 1_048_576 }),
            ])
        }
        let lines = table.lines
        // Colours come last: they have no width.
        return [styled(lines[0], .bold)]
            + zip(lines.dropFirst(), readings).map { line, reading in
                reading.State == "ready" ? line : styled(line, reading.State == "unready" ? .yellow : .red)
            }
    }

    private var faults: [String] {
        readings.filter { !$0.Down.isEmpty }.map { reading in
            let words = reading.State == "unreachable" ? "" : "\(reading.Service): down: "
            return styled("  " + words + reading.Down.joined(separator: ", ").printable, .red)
        }
    }

    private var flow: [String] {
        [
            fact("accepted/s", total("AcceptedPerSecond")), fact("outbox pending", outbox),
            fact("dispatched/s", total("DispatchedPerSecond")), listed("attempts/s", attempts),
            listed("by platform", platforms), fact("retries/s", total("RetriesPerSecond")),
            fact("parked", total("Parked")), fact("retrievals/s", total("RetrievalsPerSecond")),
            listed("99th percentiles", percentiles),
        ]
    }

    private func fact(_ name: String, _ value: String) -> String { name.padded(to: 18) + value }

    private func listed(_ name: String, _ items: [String]) -> String {
        fact(name, items.isEmpty ? "-" : items.joined(separator: ", "))
    }

    private var outbox: String {
        // Every ingest sees the one outbox.
        let ages = readings.compactMap { $0.Figures["OutboxOldestAgeSeconds"] }
        let pending = readings.compactMap { $0.Figures["OutboxPending"] }.max()
        // A service may answer any number; more than this is no age.
        let age = ages.filter { $0 < 1e12 }.max().map { $0 > 0 ? " (oldest \(Duration.seconds($0).spoken))" : "" } ?? ""
        return TopView.amount(pending) + age
    }

    private var attempts: [String] {
        ["sent", "throttled", "unavailable", "rejected", "unauthorized"].compactMap { result in
            let rate = sum("\(result.capitalized)PerSecond")
            return rate.map { "\($0.figure) \(result)" }
        }
    }

    private var platforms: [String] {
        let names = Set(readings.flatMap { $0.Figures.keys }).filter {
            $0.hasPrefix("Attempts") && $0 != "AttemptsPerSecond"
        }
        return names.sorted().compactMap { name in
            let platform = name.dropFirst("Attempts".count).dropLast("PerSecond".count).lowercased()
            return sum(name).map { "\($0.figure) \(platform)" }
        }
    }

    private var percentiles: [String] {
        [("hub", "HubP99Milliseconds"), ("broker confirm", "ConfirmP99Milliseconds")].compactMap { name, figure in
            // Of several dispatchers the slowest: percentiles do not add up.
            readings.compactMap { $0.Figures[figure] }.max().map { "\(name) \(LatencySummary.text($0)) ms" }
        }
    }

    private func sum(_ name: String) -> Double? {
        let values = readings.compactMap { $0.Figures[name] }
        return values.isEmpty ? nil : values.reduce(0, +)
    }

    private func total(_ name: String) -> String {
        name.hasSuffix("PerSecond") ? TopView.figure(sum(name)) : TopView.amount(sum(name))
    }

    private static func figure(_ value: Double?) -> String { value?.figure ?? "-" }

    /// A whole number.
    private static func amount(_ value: Double?) -> String {
        value.flatMap { Int(exactly: $0.rounded()) }?.grouped ?? "-"
    }
}
