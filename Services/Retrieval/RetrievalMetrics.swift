import Metrics

/// How readings end.
struct RetrievalMetrics: Sendable {
    let ok = Counter(label: "securepush_retrievals_total", dimensions: [("result", "ok")])
    let notFound = Counter(label: "securepush_retrievals_total", dimensions: [("result", "not_found")])
    let gone = Counter(label: "securepush_retrievals_total", dimensions: [("result", "gone")])
}
