import Foundations
import ServiceRuntime

/// The percentiles of some latencies over the last minutes.
struct LatencyHistory: Sendable {
    /// A histogram that the page draws.
    struct Series: Sendable {
        var name: String
        var metric: String
        var labels: [String: String] = [:]
        var kind: ProcessKind
        /// For a person.
        var title: String
    }

    static let all = [
        Series(
            name: "accept", metric: "securepush_http_request_duration_seconds",
            labels: ["route": "/api/notifications", "method": "POST"], kind: .ingest,
            title: "Accepting a notification"),
        Series(
            name: "publish", metric: "securepush_publish_confirm_duration_seconds", kind: .ingest,
            title: "Confirm of the broker"),
        Series(
            name: "hub", metric: "securepush_hub_request_duration_seconds", kind: .dispatcher,
            title: "Request to the hub"),
        Series(
            name: "fetch", metric: "securepush_time_to_fetch_seconds", kind: .retrieval,
            title: "From accepting to the first read"),
    ]

    /// The points that are kept: half an hour of polls.
    static let maxPoints = 360
    /// The polls whose values a percentile covers: one minute.
    static let span = 12

    private typealias Buckets = [(bound: Double, count: Double)]
    private var recent: [String: [Buckets]] = [:]
    private var points: [String: [Point]] = [:]

    private struct Point {
        var at: String
        var p50, p95, p99: Double?
    }

    /// Adds the windows of one poll.
    mutating func add(_ windows: [(ProcessKind, MetricsWindow)], at now: Timestamp) {
        for series in Self.all {
            let growths = windows.filter { $0.0 == series.kind }.map { $0.1.growth(series.metric, series.labels) }
            var polls = recent[series.name, default: []]
            polls.append(Self.sum(growths))
            polls.removeFirst(max(0, polls.count - Self.span))
            recent[series.name] = polls
            let total = Self.sum(polls)
            let milliseconds = { (quantile: Double) in
                HistogramBuckets.quantile(quantile, of: total).map { ($0 * 100_000).rounded() / 100 }
            }
            var known = points[series.name, default: []]
            known.append(
                Point(at: now.description, p50: milliseconds(0.5), p95: milliseconds(0.95), p99: milliseconds(0.99)))
            known.removeFirst(max(0, known.count - Self.maxPoints))
            points[series.name] = known
        }
    }

    /// The last percentiles of each series, and their past.
    var latencies: [Overview.Latency] {
        Self.all.map { series in
            let known = points[series.name] ?? []
            let count = Self.sum(recent[series.name] ?? []).last?.count ?? 0
            return Overview.Latency(
                name: series.name, title: series.title, windowSeconds: Self.span * 5,
                count: Int(exactly: count.rounded()) ?? 0, p50Milliseconds: known.last?.p50,
                p95Milliseconds: known.last?.p95, p99Milliseconds: known.last?.p99,
                points: Overview.LatencyPoints(
                    at: known.map(\.at), p50: known.map(\.p50), p95: known.map(\.p95), p99: known.map(\.p99)))
        }
    }

    private static func sum(_ parts: [Buckets]) -> Buckets {
        var sums: [Double: Double] = [:]
        for part in parts { for bucket in part { sums[bucket.bound, default: 0] += bucket.count } }
        return sums.sorted { $0.key < $1.key }.map { (bound: $0.key, count: $0.value) }
    }
}
