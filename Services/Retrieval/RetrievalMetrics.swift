import Metrics
import SecurePushCore
import ServiceRuntime

/// How readings end, and how long after its creation a notification is first read.
struct RetrievalMetrics: Sendable {
    let ok: Counter
    let notFound: Counter
    let gone: Counter
    let unauthorized: Counter
    let inboxRequests: Counter
    private let timeToFetch: Timer

    init(_ metrics: PrometheusMetrics) {
        func retrievals(_ result: String) -> Counter {
            Counter(label: "securepush_retrievals_total", dimensions: [("result", result)], factory: metrics)
        }
        ok = retrievals("ok")
        notFound = retrievals("not_found")
        gone = retrievals("gone")
        unauthorized = retrievals("unauthorized")
        inboxRequests = Counter(label: "securepush_inbox_requests_total", factory: metrics)
        timeToFetch = Timer(
            label: "securepush_time_to_fetch_seconds", dimensions: [], preferredDisplayUnit: .seconds,
            factory: metrics)
    }

    /// The first reading. A clock that went backwards counts as no time.
    func firstRead(createdAt: Timestamp, at time: Timestamp) {
        timeToFetch.recordMilliseconds(max(0, (time - createdAt).milliseconds))
    }
}
