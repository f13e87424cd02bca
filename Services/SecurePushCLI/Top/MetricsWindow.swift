/// Two looks at the metrics of one service, and what happened between them. Without an earlier look, or when the
/// process was started anew between them, there are no rates.
struct MetricsWindow: Sendable {
    let before: PrometheusSamples?
    let after: PrometheusSamples
    /// Between the looks.
    let seconds: Double

    init(before: PrometheusSamples?, after: PrometheusSamples, seconds: Double) {
        let start = "process_start_time_seconds"
        // Allowing for rounding: the start is reckoned from the age.
        let isSame = abs((before?.sum(start) ?? 0) - (after.sum(start) ?? 0)) < 2
        self.before = isSame ? before : nil
        self.after = after
        self.seconds = seconds
    }

    /// How much a counter has grown a second; `nil` without two looks, or where there is no such counter.
    func rate(_ name: String, _ labels: [String: String] = [:]) -> Double? {
        guard let before, seconds > 0, let last = after.sum(name, labels) else { return nil }
        // A series that was not there yet had counted nothing.
        return max(0, last - (before.sum(name, labels) ?? 0)) / seconds
    }

    /// The same by the value of a label, without those that stood still.
    func rates(_ name: String, by label: String) -> [String: Double] {
        guard let before, seconds > 0 else { return [:] }
        let first = before.sums(name, by: label)
        return after.sums(name, by: label)
            .mapValues { $0 }
            .reduce(into: [:]) { rates, item in
                let grown = item.value - first[item.key, default: 0]
                if grown > 0 { rates[item.key] = grown / seconds }
            }
    }

    /// A quantile of what a histogram has taken between the looks, reckoned evenly within a bucket as Prometheus's
    /// `histogram_quantile` does. `nil` when it has taken nothing; above the last bound it is that bound.
    func quantile(_ quantile: Double, _ name: String, _ labels: [String: String] = [:]) -> Double? {
        guard let before else { return nil }
        let first = Dictionary(uniqueKeysWithValues: before.buckets(name, labels).map { ($0.bound, $0.count) })
        let buckets = after.buckets(name, labels).map {
            (bound: $0.bound, count: $0.count - first[$0.bound, default: 0])
        }
        guard let total = buckets.last?.count, total > 0 else { return nil }
        let rank = quantile * total
        var lower = (bound: 0.0, count: 0.0)
        for bucket in buckets {
            if bucket.count >= rank {
                guard bucket.bound.isFinite else { return lower.bound }
                let inside = bucket.count - lower.count
                let share = inside > 0 ? (rank - lower.count) / inside : 1
                return lower.bound + (bucket.bound - lower.bound) * share
            }
            lower = bucket
        }
        return lower.bound
    }
}
