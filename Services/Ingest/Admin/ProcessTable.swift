import Foundations
import ServiceRuntime
import Synchronization

/// The kinds of processes that the operator's page shows.
enum ProcessKind: String, Sendable, CaseIterable, Encodable {
    case ingest, dispatcher, retrieval
}

/// What the last polls of all processes have found, and the recent past of their latencies.
final class ProcessTable: Sendable {
    /// The answer of one process to one poll.
    struct Answer: Sendable {
        var kind: ProcessKind
        /// The URL, or `this process`.
        var address: String
        var result: Result<PrometheusSamples, PollFailure>
    }

    /// A process as it was seen last.
    struct Entry: Sendable {
        var kind: ProcessKind
        var address: String
        /// The last two answers; `nil` while it does not answer.
        var window: MetricsWindow?
        /// Why it does not answer.
        var problem: String?
        /// Since when it answers, or does not.
        var since: Timestamp
        /// When it was last polled.
        var polledAt: Timestamp
    }

    /// A process that has not answered for this long, and whose name has lost its address, is forgotten.
    static let memory = Duration.seconds(300)

    private struct State {
        var entries: [String: Entry] = [:]
        var history = LatencyHistory()
        var polledAt: Timestamp?
    }

    private let state = Mutex(State())

    /// Adds a poll. Processes that were not asked any more stay as unreachable for some minutes.
    func note(_ answers: [Answer], at now: Timestamp) {
        state.withLock { state in
            var windows: [(ProcessKind, MetricsWindow)] = []
            for answer in answers {
                let key = "\(answer.kind.rawValue) \(answer.address)"
                let known = state.entries[key]
                var entry = known ?? Entry(kind: answer.kind, address: answer.address, since: now, polledAt: now)
                switch answer.result {
                case .success(let samples):
                    let seconds = known.map { Double((now - $0.polledAt).milliseconds) / 1000 } ?? 0
                    let window = MetricsWindow(before: known?.window?.after, after: samples, seconds: seconds)
                    if known?.window == nil { entry.since = now }
                    (entry.window, entry.problem) = (window, nil)
                    windows.append((answer.kind, window))
                case .failure(let failure):
                    if known?.problem == nil { entry.since = now }
                    (entry.window, entry.problem) = (nil, failure.description)
                }
                entry.polledAt = now
                state.entries[key] = entry
            }
            for (key, entry) in state.entries where entry.polledAt != now {
                if now - entry.polledAt > Self.memory {
                    state.entries[key] = nil
                } else if entry.problem == nil {
                    state.entries[key]?.problem = "Its name no longer has this address."
                    state.entries[key]?.window = nil
                    state.entries[key]?.since = now
                }
            }
            state.history.add(windows, at: now)
            state.polledAt = now
        }
    }

    /// All processes, by kind and address.
    var entries: [Entry] {
        state.withLock { Array($0.entries.values) }
            .sorted { ($0.kind.rawValue, $0.address) < ($1.kind.rawValue, $1.address) }
    }

    /// The latencies of the last minutes.
    var latencies: [Overview.Latency] { state.withLock { $0.history.latencies } }
}

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
    private var points: [String: [Overview.LatencyPoint]] = [:]

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
                Overview.LatencyPoint(
                    at: now.description, p50Milliseconds: milliseconds(0.5), p95Milliseconds: milliseconds(0.95),
                    p99Milliseconds: milliseconds(0.99)))
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
                count: Int(exactly: count.rounded()) ?? 0, p50Milliseconds: known.last?.p50Milliseconds,
                p95Milliseconds: known.last?.p95Milliseconds, p99Milliseconds: known.last?.p99Milliseconds,
                points: known)
        }
    }

    private static func sum(_ parts: [Buckets]) -> Buckets {
        var sums: [Double: Double] = [:]
        for part in parts { for bucket in part { sums[bucket.bound, default: 0] += bucket.count } }
        return sums.sorted { $0.key < $1.key }.map { (bound: $0.key, count: $0.value) }
    }
}
