import Metrics

/// `securepush_push_connections{client}` and what happens to connections. No label holds an origin: there are as many as
/// devices like.
struct PushClientMetrics {
    private let connections: Gauge
    private let opened: Counter
    private let failed: Counter
    private let goneAway: Counter
    private let unansweredPings: Counter

    init(client: String) {
        let labels = [("client", client)]
        connections = Gauge(label: "securepush_push_connections", dimensions: labels)
        opened = Counter(
            label: "securepush_push_connections_opened_total", dimensions: labels + [("result", "opened")])
        failed = Counter(
            label: "securepush_push_connections_opened_total", dimensions: labels + [("result", "failed")])
        goneAway = Counter(label: "securepush_push_goaways_total", dimensions: labels)
        unansweredPings = Counter(label: "securepush_push_pings_unanswered_total", dimensions: labels)
        connections.record(0)
    }

    func record(connections count: Int) { connections.record(count) }

    func countOpened() { opened.increment() }

    func countFailed() { failed.increment() }

    func countGoneAway() { goneAway.increment() }

    func countUnansweredPing() { unansweredPings.increment() }
}
