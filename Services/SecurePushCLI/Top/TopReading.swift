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
