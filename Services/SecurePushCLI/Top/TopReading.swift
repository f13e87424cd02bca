import Foundation
import ServiceRuntime

/// The figures of one service in one interval.
struct TopReading: Encodable, Sendable, Equatable {
    struct Latency: Encodable, Sendable, Equatable {
        var p50Milliseconds: Double
        var p99Milliseconds: Double
    }

    var service: String
    var url: String
    var version: String?
    /// `ready`, `unready` or `unreachable`.
    var state: Readiness.State
    /// The parts that are down, or why the service does not answer.
    var down: [String] = []
    /// Requests per second, without those for health and metrics.
    var requestsPerSecond: Double?
    var requestLatency: Latency?
    var residentMemoryBytes: Double?
    /// 100 is one core.
    var cpuPercent: Double?
    /// Figures that only this kind of service has, by name: rates per second and amounts.
    var figures: [String: Double] = [:]

    private enum CodingKeys: String, CodingKey {
        case service, url = "URL", version, state, down, requestsPerSecond, requestLatency, residentMemoryBytes
        case cpuPercent = "CPUPercent", figures
    }
}

extension TopReading {
    /// The failure that names each service that is not ready or does not answer; `nil` if all are ready.
    static func failure(_ readings: [TopReading]) -> CommandFailure? {
        let down = readings.filter { $0.state != .ready }
        if down.isEmpty { return nil }
        let names = down.map { reading in
            let word = reading.state == .unreachable ? "does not answer" : "is not ready"
            return "\(reading.service) \(word) at \(reading.url.oneLine)"
        }
        return CommandFailure(
            .unreachable, names.joined(separator: ", ") + ".", hint: "`securepush doctor` checks every part.")
    }

    /// Routes for operators, which do not count as requests.
    private static let operations: Set<String> = ["/livez", "/readyz", "/metrics", "/version"]

    init(service: String, url: String, _ process: ProcessState) {
        self.init(
            service: service, url: url, version: process.version, state: process.readiness.state,
            down: process.readiness.down)
        guard let window = process.window else { return }
        (residentMemoryBytes, cpuPercent) = (process.residentMemory, process.cpuPercent)
        let routes = window.rates("securepush_http_requests_total", by: "route")
        let isMeasured = window.before != nil
        let requests = routes.filter { !TopReading.operations.contains($0.key) }
        requestsPerSecond = isMeasured ? requests.values.reduce(0, +).rounded(toPlaces: 1).ifFinite : nil
        // The latency of the busiest route, not a mix of all routes.
        let busiest = requests.max { $0.value < $1.value }?.key
        if let busiest {
            requestLatency = TopReading.latency(
                window, "securepush_http_request_duration_seconds", ["route": busiest])
        }
        for figure in TopFigure.all where figure.service == service {
            figures[figure.name] = figure.value(window)?.rounded(toPlaces: 3).ifFinite
        }
        if service == "dispatcher" {
            for result in ["sent", "throttled", "unavailable", "rejected", "unauthorized"] {
                let rate = window.rate("securepush_dispatch_attempts_total", ["result": result])
                if let rate, rate > 0 || result == "sent" {
                    figures["\(result.capitalized)PerSecond"] = rate.rounded(toPlaces: 3).ifFinite
                }
            }
            let platforms = window.rates("securepush_dispatch_attempts_total", by: "platform")
            for (platform, rate) in platforms {
                figures["Attempts\(platform.capitalized)PerSecond"] = rate.rounded(toPlaces: 3).ifFinite
            }
        }
    }

    private static func latency(_ window: MetricsWindow, _ name: String, _ labels: [String: String]) -> Latency? {
        func milliseconds(_ quantile: Double) -> Double? {
            window.quantile(quantile, name, labels).flatMap { ($0 * 1000).rounded(toPlaces: 2).ifFinite }
        }
        guard let p50 = milliseconds(0.5), let p99 = milliseconds(0.99) else { return nil }
        return Latency(p50Milliseconds: p50, p99Milliseconds: p99)
    }
}

extension Double {
    /// `nil` for a number that JSON cannot hold (NaN, infinity): metrics can have any number.
    fileprivate var ifFinite: Double? { isFinite ? self : nil }
}

private struct TopFigure: Sendable {
    enum Kind: Sendable {
        /// Growth per second.
        case rate
        case amount
        /// The 99th percentile of a histogram of seconds, in milliseconds.
        case p99
    }

    let service: String
    let name: String
    let metric: String
    let kind: Kind
    /// Counts only series with these labels.
    let labels: [String: String]

    /// In display order.
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
        TopFigure("dispatcher", "DeadLettered", "securepush_dead_lettered_total", .amount),
        TopFigure("dispatcher", "HubP99Milliseconds", "securepush_hub_request_duration_seconds", .p99),
        TopFigure("retrieval", "RetrievalsPerSecond", "securepush_retrievals_total", .rate),
        TopFigure("hub", "PushesPerSecond", "securepush_hub_pushes_total", .rate),
        TopFigure("hub", "RetriesWaiting", "securepush_hub_retries_waiting", .amount),
        TopFigure("hub", "PushP99Milliseconds", "securepush_hub_push_duration_seconds", .p99),
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

/// The text of `securepush top`: one row per service, then the flow through the system.
struct TopView: Sendable {
    let readings: [TopReading]
    let styled: @Sendable (String, Style) -> String

    var lines: [String] { services + faults + [""] + flow }

    private var services: [String] {
        var table = Table(TopView.columns)
        let lines = table.lines(readings)
        // Styles are added last because escape sequences would change the column widths.
        return lines.prefix(1).map { styled($0, .bold) }
            + zip(lines.dropFirst(), readings).map { line, reading in
                reading.state == .ready ? line : styled(line, reading.state == .unready ? .yellow : .red)
            }
    }

    private static let columns: [Column<TopReading>] = [
        Column("service") { $0.service },
        Column("state", isNumber: true) { $0.state.rawValue },
        Column("version", isNumber: true) { $0.version },
        Column("req/s", isNumber: true) { $0.requestsPerSecond?.figure },
        Column("p50 ms", isNumber: true) { $0.requestLatency.map { LatencySummary.text($0.p50Milliseconds) } },
        Column("p99 ms", isNumber: true) { $0.requestLatency.map { LatencySummary.text($0.p99Milliseconds) } },
        Column("CPU %", isNumber: true) { $0.cpuPercent?.figure },
        Column("RSS MB", isNumber: true) { $0.residentMemoryBytes.map { ($0 / 1_048_576).figure } },
    ]

    private var faults: [String] {
        readings.filter { !$0.down.isEmpty }.map { reading in
            let words = reading.state == .unreachable ? "" : "\(reading.service): down: "
            return styled("  " + words + reading.down.joined(separator: ", ").printable, .red)
        }
    }

    private var flow: [String] {
        [
            fact("accepted/s", total("AcceptedPerSecond")), fact("outbox pending", outbox),
            fact("dispatched/s", total("DispatchedPerSecond")), listed("attempts/s", attempts),
            listed("by platform", platforms), fact("retries/s", total("RetriesPerSecond")),
            fact("dead-lettered", deadLettered), fact("retrievals/s", total("RetrievalsPerSecond")),
            listed("99th percentiles", percentiles),
        ] + pushes
    }

    /// Only for your own hub.
    private var pushes: [String] {
        guard readings.contains(where: { $0.service == ServiceURL.hub.service }) else { return [] }
        // All processes of a hub report the same stored pushes.
        let waiting = readings.compactMap { $0.figures["RetriesWaiting"] }.max()
        return [fact("pushes/s", total("PushesPerSecond")), fact("pushes waiting", TopView.amount(waiting))]
    }

    private func fact(_ name: String, _ value: String) -> String { name.padded(to: 18) + value }

    private func listed(_ name: String, _ items: [String]) -> String {
        fact(name, items.isEmpty ? "-" : items.joined(separator: ", "))
    }

    private var outbox: String {
        // All ingest processes report the same outbox.
        let ages = readings.compactMap { $0.figures["OutboxOldestAgeSeconds"] }
        let pending = readings.compactMap { $0.figures["OutboxPending"] }.max()
        // Larger values cannot be an age.
        let age = ages.filter { $0 < 1e12 }.max().map { $0 > 0 ? " (oldest \(Duration.seconds($0).spoken))" : "" } ?? ""
        return TopView.amount(pending) + age
    }

    /// A counter of the processes, not the length of the queue.
    private var deadLettered: String { total("DeadLettered") + (sum("DeadLettered") == nil ? "" : " since start") }

    private var attempts: [String] {
        ["sent", "throttled", "unavailable", "rejected", "unauthorized"].compactMap { result in
            let rate = sum("\(result.capitalized)PerSecond")
            return rate.map { "\($0.figure) \(result)" }
        }
    }

    private var platforms: [String] {
        let names = Set(readings.flatMap { $0.figures.keys }).filter {
            $0.hasPrefix("Attempts") && $0 != "AttemptsPerSecond"
        }
        return names.sorted().compactMap { name in
            let platform = name.dropFirst("Attempts".count).dropLast("PerSecond".count).lowercased()
            return sum(name).map { "\($0.figure) \(platform)" }
        }
    }

    private var percentiles: [String] {
        [
            ("hub", "HubP99Milliseconds"), ("push service", "PushP99Milliseconds"),
            ("broker confirm", "ConfirmP99Milliseconds"),
        ].compactMap { name, figure in
            // The slowest process: percentiles cannot be added.
            readings.compactMap { $0.figures[figure] }.max().map { "\(name) \(LatencySummary.text($0)) ms" }
        }
    }

    private func sum(_ name: String) -> Double? {
        let values = readings.compactMap { $0.figures[name] }
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
