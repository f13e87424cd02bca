import Metrics

/// `securepush_push_connections{client}` and what happens to connections. No label has an origin, because devices
/// choose the origins.
///
/// Hubs have clients of the same name, and while the credentials change a hub has two. So the connections are counted up
/// and down: a gauge would show those of the client that wrote last.
struct PushClientMetrics {
    private let connections: Meter
    private let opened: Counter
    private let failed: Counter
    private let goneAway: Counter
    private let unansweredPings: Counter

    /// - Parameter factory: tests use another one.
    init(client: String, factory: any MetricsFactory = MetricsSystem.factory) {
        let labels = [("client", client)]
        let result = "securepush_push_connections_opened_total"
        connections = Meter(label: "securepush_push_connections", dimensions: labels, factory: factory)
        opened = Counter(label: result, dimensions: labels + [("result", "opened")], factory: factory)
        failed = Counter(label: result, dimensions: labels + [("result", "failed")], factory: factory)
        goneAway = Counter(label: "securepush_push_goaways_total", dimensions: labels, factory: factory)
        unansweredPings = Counter(
            label: "securepush_push_pings_unanswered_total", dimensions: labels, factory: factory)
    }

    func countOpened() {
        opened.increment()
        connections.increment()
    }

    func countClosed() { connections.decrement() }

    func countFailed() { failed.increment() }

    func countGoneAway() { goneAway.increment() }

    func countUnansweredPing() { unansweredPings.increment() }
}
